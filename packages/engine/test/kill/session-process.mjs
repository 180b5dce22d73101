// One life of a process that has a conversation with side effects: it goes on where the last one was killed, and ends when all is said.
//   node session-process.mjs FOLDER ID SENDS
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEngine, createSession, fileStore, openSession, tool } from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';

const [folder, id, sends] = process.argv.slice(2);
const effects = join(folder, 'effects.log');
const store = fileStore(join(folder, 'sessions'));

const pause = () => sleep(Math.random() * 8);
const nonce = () => `${process.pid}-${Math.random()}`;

/** Takes effect, at some moment of its life; what it returns is different every time that it runs. */
const pay = tool({
  name: 'pay',
  description: 'Takes effect whenever it is called.',
  run: async (_, { idempotencyKey }) => {
    await pause();
    appendFileSync(effects, `${idempotencyKey} pay\n`);
    await pause();
    return `paid ${nonce()}`;
  },
});

/** Looks first whether it has taken effect already, as a service does that honours idempotency keys. */
const put = tool({
  name: 'put',
  description: 'Takes effect once for each key.',
  idempotent: true,
  run: async (_, { idempotencyKey }) => {
    await pause();
    const line = `${idempotencyKey} put\n`;
    if (!readFileSync(effects, 'utf8').includes(line)) appendFileSync(effects, line);
    await pause();
    return `put ${nonce()}`;
  },
});

/** Calls four tools at once when the user has spoken, then says that it is done. The ids of the calls come again in every turn. */
const answer = ({ messages }) =>
  messages.at(-1).role === 'user'
    ? { text: 'At once.', toolCalls: ['pay', 'put', 'pay', 'put'].map((name, i) => ({ id: `call_${i}`, name })) }
    : 'Done.';
const engine = createEngine({ chat: scripted(Array.from({ length: 100 }, () => answer)), tools: [pay, put] });

appendFileSync(effects, '');
process.stdout.write('ready\n');
const known = await store.load(id);
const session = known ? await openSession({ id, engine, store }) : createSession({ id, engine, store });
for (;;) {
  const said = session.messages.filter(message => message.role === 'user').length;
  const outcome =
    session.status === 'interrupted' ? await session.resume() : said < Number(sends) ? await session.send(`Go ${said + 1}.`) : undefined;
  if (!outcome) break;
  if (outcome.status !== 'completed') throw outcome.error ?? new Error(`The turn ended as ${outcome.status}.`);
}
