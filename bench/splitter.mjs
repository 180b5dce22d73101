// Cuts right and characters a second: our splitter, fed one UTF-16 code unit at a time, beside splitters of whole texts.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { ClauseSplitter } from '../packages/voice/dist/text/index.js';

// A long reply; whole-text splitters may grow faster than the text, so a longer one would not be fair to them.
const REPLY_CHARS = 20_000;
const REPLIES = 25;
const RUNS = 3;
const here = name => fileURLToPath(new URL(name, import.meta.url));

/** `{ text, pieces, locale }` of our own table, a TypeScript file beside the tests. */
async function ownCases() {
  const source = readFileSync(here('../packages/voice/test/text/clause-cases.ts'), 'utf8');
  const { code } = await transform(source, { loader: 'ts', format: 'esm' });
  const { clauseCases } = await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`);
  return clauseCases.map(({ pieces, glue = ' ', locale }) => ({ text: pieces.join(glue), pieces, locale }));
}

function sharedCases() {
  const file = here('../../shared/cases/clauses.json');
  if (!existsSync(file)) return [];
  return JSON.parse(readFileSync(file, 'utf8')).map(({ in: text, out }) => ({ text, pieces: out, locale: undefined }));
}

function ours(text, locale) {
  const splitter = new ClauseSplitter(locale === undefined ? {} : { locale });
  const pieces = [];
  for (let at = 0; at < text.length; at++) for (const clause of splitter.push(text[at])) pieces.push(clause.text);
  for (const clause of splitter.flush()) pieces.push(clause.text);
  return pieces;
}

function segmenter(text, locale = 'en') {
  return Array.from(new Intl.Segmenter(locale, { granularity: 'sentence' }).segment(text), ({ segment }) => segment);
}

/** The sentencex package, installed on first use; undefined when that fails. */
async function sentencex() {
  const folder = here('peers/');
  if (!existsSync(`${folder}node_modules/sentencex`)) {
    const arguments_ = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
    spawnSync('npm', arguments_, { cwd: folder, stdio: 'ignore', shell: process.platform === 'win32' });
  }
  try {
    const path = createRequire(`${folder}package.json`).resolve('sentencex');
    const loaded = await import(pathToFileURL(path).href);
    const segment = loaded.segment ?? loaded.default.segment;
    return (text, locale = 'en') => segment(locale, text);
  } catch (error) {
    console.error(`sentencex could not be installed, its row is left out: ${error.message.split('\n')[0]}`);
    return undefined;
  }
}

const spoken = pieces => JSON.stringify(pieces.map(piece => piece.trim()).filter(piece => /[\p{L}\p{N}]/u.test(piece)));
const right = (split, cases) => cases.filter(({ text, pieces, locale }) => spoken(split(text, locale)) === JSON.stringify(pieces)).length;

function charsPerSecond(split) {
  const sentence = 'Dr. Lee met Mrs. Okafor at noon, and they spoke briefly. It was fun! Then (at 9:30 a.m.) they left for 3.14 pies.\n';
  const text = sentence.repeat(Math.ceil(REPLY_CHARS / sentence.length));
  const seconds = Array.from({ length: RUNS }, () => {
    const begin = performance.now();
    for (let reply = 0; reply < REPLIES; reply++) split(text);
    return (performance.now() - begin) / 1000;
  });
  return (text.length * REPLIES) / Math.min(...seconds);
}

/** One row for each splitter: how many texts it cuts exactly right, and how fast it is. */
export async function measure() {
  const own = await ownCases();
  const shared = sharedCases();
  const peer = await sentencex();
  const splitters = [
    ['ClauseSplitter, 1-character tokens', ours],
    ['Intl.Segmenter, whole text', segmenter],
    ...(peer ? [['sentencex 1.0.17, whole text', peer]] : []),
  ];
  return splitters.map(([name, split]) => ({
    name,
    own: `${right(split, own)}/${own.length}`,
    shared: shared.length > 0 ? `${right(split, shared)}/${shared.length}` : 'not at hand',
    charsPerSecond: charsPerSecond(split),
  }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`${'splitter'.padEnd(36)}  own cases  shared cases  M characters/s`);
  for (const { name, own, shared, charsPerSecond: speed } of await measure()) {
    console.log(`${name.padEnd(36)}  ${own.padStart(9)}  ${shared.padStart(12)}  ${(speed / 1e6).toFixed(2).padStart(14)}`);
  }
}
