// Prints provider × capability × how it is proved. Read off the tests themselves: which files call the factory, and what they hold it against;
// for the servers of the chat dialect, which files name them, and what the recordings of them hold (if those are beside the checkout).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../packages/providers/test/', import.meta.url));
const factories = await import(new URL('../packages/providers/dist/index.js', import.meta.url).href);

const { PROFILES } = await import(new URL('../packages/providers/dist/openai-chat/profiles.js', import.meta.url).href);
const facts = fileURLToPath(new URL('../../shared/streams/facts.json', import.meta.url));
const recordings = existsSync(facts) ? Object.entries(JSON.parse(readFileSync(facts, 'utf8'))) : [];

const CAPABILITIES = [
  [/Embeddings$/, 'embeddings'],
  [/Images$/, 'images'],
  [/Moderation$/, 'moderation'],
  [/Classification$/, 'classification'],
  [/Rerank$/, 'reranking'],
  [/Speech$/, 'speech'],
  [/Transcription$/, 'transcription'],
];
const PROOFS = [
  ['recorded answers', /facts\.json|recordedFacts|shared\/streams|support\/recorded|readFacts/],
  ['in-process server', /createServer|serve\(|soundServer\(|strictServer\(|strictGemini\(|WebSocketServer|Twin\(/],
  ['conformance kit', /[cC]onformance\(/],
  ['real engine', /support\/llama-peer/],
];

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.test.ts'))
  .map(name => ({ name, text: readFileSync(`${folder}${name}`, 'utf8') }));

const rows = [];
for (const [name, value] of Object.entries(factories).sort()) {
  if (typeof value !== 'function' || /^create|^prices|^model$/.test(name)) continue;
  const capability = CAPABILITIES.find(([ending]) => ending.test(name))?.[1] ?? 'chat';
  const using = files.filter(({ text }) => new RegExp(`\\b${name}\\b`).test(text));
  rows.push([name, capability, ...PROOFS.map(([, sign]) => (using.some(({ text }) => sign.test(text)) ? '●' : '·')), String(using.length)]);
}
/** What recordings may hold, and how the facts about them call it. */
const HELD = [
  ['text', 'text'],
  ['reasoning', 'reasoning'],
  ['tool_calls', 'tools'],
  ['sources', 'sources'],
];
for (const { name, hosts } of PROFILES) {
  const folder = name === 'openai' ? 'openai-chat' : name;
  const own = recordings.filter(([file, { facts }]) => file.startsWith(`${folder}/`) && facts.protocol?.startsWith('openai ch'));
  const held = HELD.filter(([key]) => own.some(([, { facts }]) => facts[key])).map(([, word]) => word);
  const using = files.filter(({ text }) => text.includes(`'${name}'`) || hosts.some(host => text.includes(host)));
  rows.push([
    `openaiChat: ${name}`,
    'chat',
    held.join(', ') || (own.length > 0 ? '●' : '·'),
    ...PROOFS.slice(1).map(() => ''),
    String(using.length),
  ]);
}
const table = [['factory', 'capability', ...PROOFS.map(([title]) => title), 'test files'], ...rows];
const widths = table[0].map((_, i) => Math.max(...table.map(row => row[i].length)));
for (const row of table)
  console.log(
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd(),
  );
