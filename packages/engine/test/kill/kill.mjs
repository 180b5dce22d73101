// Kills a process in the middle of its conversation, again and again, and looks at what is left when it has come to its end:
// no result that was safe may be gone, and nothing may have taken effect twice.
//   node kill.mjs [KILLS = 200]
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine, fileStore, openSession } from '@antiphon/engine';
import { buildSync } from 'esbuild';

const KILLS = Number(process.argv[2] ?? 200);
const SENDS = 4;
const LONGEST_LIFE_MS = 150;
const folder = mkdtempSync(join(tmpdir(), 'antiphon-kill-'));
// As one file: most of a short life would be spent on loading many.
const program = join(folder, 'session-process.mjs');

const figures = {
  sessions: 0,
  kills: 0,
  calls: 0,
  results: 0,
  unknown: 0,
  lost: 0,
  repeated: 0,
  unanswered: 0,
  wrong: 0,
  locksLeft: 0,
  linesCut: 0,
};

/** Lets the program live for a while. True when it has come to its end by itself. */
function live(id, lifeMs) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, folder, id, String(SENDS)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let timer;
    child.stdout.once('data', () => {
      timer = setTimeout(() => child.kill('SIGKILL'), lifeMs);
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      if (signal === 'SIGKILL') resolve(false);
      else if (code === 0) resolve(true);
      else reject(new Error(`The program ended with ${code ?? signal}.`));
    });
  });
}

/** Results that the log holds, by the number of their batch and the id of their call. */
async function safeResults(store, id) {
  const { entries = [] } = (await store.load(id)) ?? {};
  const results = new Map();
  let batch = 0;
  for (const entry of entries) {
    if (entry.type === 'message') batch++;
    if (entry.type === 'result') results.set(`${id}/${batch}/${entry.callId}`, entry.content);
  }
  return results;
}

async function oneSession() {
  const id = `session-${figures.sessions++}`;
  const store = fileStore(join(folder, 'sessions'));
  const file = join(folder, 'sessions', `${id}.jsonl`);
  const safe = new Map();
  for (;;) {
    const done = await live(id, figures.kills < KILLS ? Math.random() * LONGEST_LIFE_MS : 60_000);
    for (const [key, content] of await safeResults(store, id)) {
      if (safe.has(key) && safe.get(key) !== content) figures.lost++;
      safe.set(key, content);
    }
    if (done) break;
    figures.kills++;
    if (existsSync(file.replace(/jsonl$/, 'lock'))) figures.locksLeft++;
    if (existsSync(file) && !readFileSync(file, 'utf8').endsWith('\n')) figures.linesCut++;
  }
  await check(store, id, safe);
}

async function check(store, id, safe) {
  const effects = readFileSync(join(folder, 'effects.log'), 'utf8')
    .split('\n')
    .filter(line => line.startsWith(`${id}/`));
  figures.repeated += effects.length - new Set(effects).size;
  const { messages } = await openSession({ id, store, engine: createEngine({}) });
  let batch = 0;
  let open = new Map();
  const users = [];
  for (const message of messages) {
    if (message.role === 'user') users.push(message.content);
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      figures.unanswered += open.size;
      const calls = message.content.filter(part => part.type === 'tool_call');
      if (calls.length > 0) batch++;
      open = new Map(calls.map(call => [call.id, call.name]));
      figures.calls += calls.length;
    }
    if (message.role !== 'tool') continue;
    const key = `${id}/${batch}/${message.callId}`;
    const name = open.get(message.callId);
    if (!open.delete(message.callId)) figures.wrong++;
    figures.results++;
    const unknown = message.content.includes('unknown whether it took effect');
    if (unknown) figures.unknown++;
    // What is called once for each key may always be called again; what is not must have said so.
    if (unknown && name === 'put') figures.wrong++;
    if (!unknown && !effects.includes(`${key} ${name}`)) figures.wrong++;
    if (safe.has(key) && safe.get(key) !== message.content) figures.lost++;
    safe.delete(key);
  }
  figures.unanswered += open.size;
  figures.lost += safe.size;
  if (users.join() !== Array.from({ length: SENDS }, (_, i) => `Go ${i + 1}.`).join()) figures.wrong++;
  if (messages.at(-1).content[0].text !== 'Done.') figures.wrong++;
}

try {
  const entryPoints = [fileURLToPath(new URL('./session-process.mjs', import.meta.url))];
  buildSync({ entryPoints, bundle: true, platform: 'node', format: 'esm', outfile: program, logLevel: 'error' });
  while (figures.kills < KILLS) await oneSession();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(JSON.stringify(figures));
if (figures.lost + figures.repeated + figures.unanswered + figures.wrong > 0) process.exitCode = 1;
