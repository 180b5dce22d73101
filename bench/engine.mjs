// What the engine adds to a model: per event, per growing JSON value, per stored message, per tool definition.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assistant, createEngine, createSession, estimateTokens, fileStore, openSession, PartialJson, tool, user } from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { printTable } from './clients/table.mjs';

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** An adapter that says `count` words as fast as it is asked. */
function talker(count) {
  return {
    provider: 'bench',
    model: 'bench',
    async *stream() {
      yield { type: 'message_start' };
      for (let i = 0; i < count; i++) yield { type: 'text_delta', index: 0, delta: 'token ' };
      yield { type: 'text_end', index: 0, text: 'token '.repeat(count) };
      yield { type: 'message_end', finishReason: 'stop', usage: {} };
    },
  };
}

async function drain(events) {
  for await (const _ of events);
}

async function perChunk(count, make) {
  const began = cpuMs();
  await drain(make(count));
  return ((cpuMs() - began) * 1000) / count;
}

const bare = count => talker(count).stream();
const full = count => createEngine({ chat: talker(count) }).stream('Hi');
const COUNT = 100_000;
const rows = [['CPU µs per text chunk', 'cold', 'warm']];
for (const [name, make] of [
  ['engine.stream (events, fold, loop)', full],
  ['the bare adapter', bare],
]) {
  const cold = await perChunk(20_000, make);
  const warm = Math.min(await perChunk(COUNT, make), await perChunk(COUNT, make));
  rows.push([name, cold.toFixed(2), warm.toFixed(2)]);
}
printTable(rows);

const json = JSON.stringify({ items: Array.from({ length: 4000 }, (_, i) => ({ id: i, name: `item ${i}` })) });
const growing = deltas => {
  const size = 5;
  const began = cpuMs();
  const parser = new PartialJson();
  for (let at = 0; at < Math.min(json.length, deltas * size); at += size) {
    parser.push(json.slice(at, at + size));
    parser.value;
  }
  return cpuMs() - began;
};
growing(20_000);
const [small, large] = [Math.min(...[1, 2, 3].map(() => growing(2000))), Math.min(...[1, 2, 3].map(() => growing(20_000)))];
printTable([
  ['growing JSON, a value after each delta', '2,000 deltas', '20,000 deltas', 'ratio (linear: 10)'],
  ['PartialJson, CPU ms', small.toFixed(1), large.toFixed(1), (large / small).toFixed(1)],
]);

const folder = mkdtempSync(join(tmpdir(), 'antiphon-bench-'));
try {
  const timed = async work => {
    const began = performance.now();
    const value = await work();
    return [performance.now() - began, value];
  };
  const sessions = [['sessions in a file store, ms', '1,000 messages', '10,000 messages']];
  const measured = [];
  for (const length of [1000, 10_000]) {
    const store = fileStore(join(folder, String(length)));
    const messages = Array.from({ length: length / 2 }, (_, i) => [user(`Question ${i}`), assistant(`Answer ${i}`)]).flat();
    const engine = createEngine({ chat: scripted(Array.from({ length: 50 }, () => 'Fine.')) });
    const [create, session] = await timed(async () => {
      const made = createSession({ id: 'bench', engine, store, messages });
      await made.send('First.');
      return made;
    });
    const [append] = await timed(async () => {
      for (let i = 0; i < 20; i++) await session.send('Next.');
    });
    const [load] = await timed(() => openSession({ id: 'bench', engine, store: fileStore(join(folder, String(length))) }));
    measured.push([create, append / 20, load]);
  }
  for (const [i, name] of ['create and first turn', 'a further turn', 'load'].entries())
    sessions.push([name, ...measured.map(times => times[i].toFixed(1))]);
  printTable(sessions);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const catalog = compact =>
  Array.from({ length: 50 }, (_, i) =>
    tool({
      name: `tool_${i}`,
      description: `Looks up record number ${i} in the register. It takes a key and filters, pages through what it finds, and gives the newest first. It must not be used for writing.`,
      input: {
        type: 'object',
        properties: {
          key: { type: 'string', description: 'The key of the record, as it stands in the register.' },
          limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many records to give at the most.' },
          since: { type: 'string', format: 'date', description: 'Only records from this day on.' },
        },
        required: ['key'],
      },
      compact,
      run: () => 'x',
    }),
  );
const sent = async compact => {
  const chat = scripted(['Fine.']);
  await createEngine({ chat, tools: catalog(compact) }).chat('Hi');
  return estimateTokens([user(JSON.stringify(chat.requests[0].tools))]);
};
const [whole, stubs] = [await sent(false), await sent(true)];
printTable([
  ['tokens of 50 tool definitions (estimate)', 'whole', 'compact', 'saved'],
  ['sent with every request', whole, stubs, `${Math.round((1 - stubs / whole) * 100)} %`],
]);
