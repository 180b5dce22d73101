// What the engine costs before it does anything, beside other clients: the time to import it, its size when bundled, the packages that come with it.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { CLIENTS_DIR, ensureClients } from './clients/ensure.mjs';
import { median, printColumns } from './clients/table.mjs';

const RUNS = 15;
const HERE = fileURLToPath(new URL('.', import.meta.url));
/** What is imported, by the package it is from. */
const OWN = {
  '@antiphon/engine': { '@antiphon/engine': '*' },
  '@antiphon/engine + providers': { '@antiphon/providers': '*' },
  '@antiphon/voice (with engine)': { '@antiphon/voice': '*' },
  'createEngine alone': { '@antiphon/engine': '{ createEngine }' },
  'engine + openaiChat': { '@antiphon/engine': '{ createEngine }', '@antiphon/providers': '{ openaiChat }' },
};
const PEERS = {
  'openai 7': { openai: '{ default }' },
  'AI SDK 7 + openai-compatible': { ai: '{ streamText }', '@ai-sdk/openai-compatible': '{ createOpenAICompatible }' },
  '@langchain/openai 1.6': { '@langchain/openai': '{ ChatOpenAI }' },
};
const sum = numbers => numbers.reduce((a, b) => a + b, 0);

/** Milliseconds of the import alone, median of fresh processes. */
function importMs(imports, cwd) {
  const all = Object.keys(imports).map(name => `import(${JSON.stringify(name)})`);
  const code = `const t = performance.now(); await Promise.all([${all}]); console.log(performance.now() - t);`;
  const run = () => Number(spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', cwd }).stdout);
  return median(Array.from({ length: RUNS }, run));
}

/** Kilobytes of the parts that load at once, the entry and its static imports: what is imported on demand is a file of its own. */
async function bundle(imports, resolveDir) {
  const contents = Object.entries(imports).map(([name, what]) => `export ${what} from ${JSON.stringify(name)};`);
  const { metafile, outputFiles } = await build({
    stdin: { contents: contents.join('\n'), resolveDir },
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    outdir: 'unused',
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const [entry] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === '<stdin>');
  const wanted = new Set([entry]);
  for (const name of wanted) for (const { path, kind } of metafile.outputs[name].imports) if (kind === 'import-statement') wanted.add(path);
  const eager = [...wanted].map(name => outputFiles.find(({ path }) => path.replaceAll('\\', '/').endsWith(name)).contents);
  return { kb: sum(eager.map(bytes => bytes.length)) / 1000, gzipKb: sum(eager.map(bytes => gzipSync(bytes).length)) / 1000 };
}

/** The package files of packages and of all that npm installs with them; optional peers are left out. */
function installed(names, from = fileURLToPath(import.meta.url), found = new Set()) {
  for (const name of names) {
    const places = createRequire(from).resolve.paths(name) ?? [];
    const file = places.map(place => join(place, name, 'package.json')).find(existsSync);
    if (file === undefined) throw new Error(`${name}, which ${from} needs, is not installed.`);
    if (found.has(file)) continue;
    found.add(file);
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = JSON.parse(readFileSync(file, 'utf8'));
    const peers = Object.keys(peerDependencies).filter(peer => !peerDependenciesMeta[peer]?.optional);
    installed([...Object.keys(dependencies), ...peers], file, found);
  }
  return found;
}

const rows = [];
async function measure(entries, dir) {
  for (const [name, imports] of Object.entries(entries)) rows.push({ name, ms: importMs(imports, dir), ...(await bundle(imports, dir)) });
}
await measure(OWN, HERE);
if (ensureClients()) await measure(PEERS, CLIENTS_DIR);
printColumns(
  [
    ['import', ({ name }) => name],
    ['import ms', ({ ms }) => ms.toFixed(1)],
    ['minified KB', ({ kb }) => kb.toFixed(1)],
    ['gzip KB', ({ gzipKb }) => gzipKb.toFixed(1)],
  ],
  rows,
);
const packages = [...installed(['@antiphon/engine', '@antiphon/providers'])].map(file => JSON.parse(readFileSync(file, 'utf8')).name);
console.log(`npm install of engine and providers: ${packages.length} packages (${packages.join(', ')})`);
