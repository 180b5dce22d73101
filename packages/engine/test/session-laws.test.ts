import {
  askUser,
  createEngine,
  createSession,
  memoryStore,
  messageText,
  messageToolCalls,
  openSession,
  repairMessages,
  restoreSession,
  type Session,
} from '@antiphon/engine';
import { type ScriptedTurn, scripted } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dyingStore } from './session-store-support.js';
import { jsonCopy, plainTool } from './support.js';

const TOOLS = ['works', 'fails', 'asks', 'by_hand', 'guarded', 'put'] as const;

const effects: string[] = [];
const tools = [
  plainTool('works', (_, { idempotencyKey }) => effects.push(`${idempotencyKey}`)),
  plainTool('fails', () => {
    throw new Error('broken');
  }),
  plainTool('asks', () => askUser('Which?')),
  plainTool('by_hand', undefined, { manual: true }),
  plainTool('guarded', (_, { idempotencyKey }) => effects.push(`${idempotencyKey}`), { approve: true }),
  plainTool('put', () => 'put', { idempotent: true }),
];

/** What the model does next: fails, talks, or calls tools. Ids come again from turn to turn. */
const turnOf: fc.Arbitrary<ScriptedTurn> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(new Error('down')) },
  { weight: 3, arbitrary: fc.constant('Talk.') },
  {
    weight: 4,
    arbitrary: fc.uniqueArray(fc.constantFrom(...TOOLS), { minLength: 1, maxLength: 4 }).map(names => ({
      text: 'Calls.',
      toolCalls: names.map((name, i) => ({ id: `call_${i}`, name })),
    })),
  },
);

/** `n` chooses among what is possible. */
interface Step {
  readonly act: 'send' | 'answer' | 'approve' | 'deny' | 'submit' | 'retry' | 'resume' | 'fork' | 'reload' | 'crash' | 'replace';
  readonly n: number;
}
const stepOf: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom<Step['act'][]>(
    ...([
      'send',
      'send',
      'send',
      'answer',
      'answer',
      'approve',
      'approve',
      'deny',
      'submit',
      'submit',
      'retry',
      'resume',
      'resume',
    ] as const),
    ...(['fork', 'reload', 'crash', 'crash', 'replace'] as const),
  ),
  n: fc.nat(11),
});

/** Does what a step says, or gives the error of a step that is refused. */
async function perform(session: Session, { act, n }: Step, said: string): Promise<unknown> {
  const { approvals = [], calls = [], questions = [] } = session.pending;
  const any = [...approvals.map(({ id }) => id), ...calls.map(({ id }) => id), ...questions.map(({ callId }) => callId)];
  const options = { run: n % 3 > 0 };
  try {
    switch (act) {
      case 'send':
        return await session.send(said);
      case 'answer':
        return await session.answer(said, options);
      case 'approve':
        return await session.approve(approvals[n % approvals.length]?.id ?? 'none', options);
      case 'deny':
        return await session.deny(approvals[n % approvals.length]?.id ?? 'none', 'No.', options);
      case 'submit':
        return await session.submitToolResult(any[n % any.length] ?? 'none', { n }, options);
      case 'retry':
        return await session.retry();
      case 'resume':
        return await session.resume();
      case 'replace':
        return await session.replaceMessages([...session.messages]);
    }
  } catch (error) {
    return error;
  }
  return undefined;
}

const userTexts = (session: Session) => session.messages.flatMap(message => (message.role === 'user' ? [messageText(message)] : []));

/** Calls without a result that nobody waits for and no resumption would answer. */
function forgotten(session: Session): string[] {
  const { approvals = [], calls = [], questions = [] } = session.pending;
  const waits = new Set([...approvals, ...calls].map(({ id }) => id).concat(questions.map(({ callId }) => callId)));
  const last = session.messages.findLastIndex(({ role }) => role === 'assistant');
  const ahead = session.status === 'interrupted' || session.status === 'failed' || waits.size > 0;
  return session.messages.flatMap((message, i) => {
    if (message.role !== 'assistant') return [];
    const next = session.messages.findIndex((other, at) => at > i && other.role !== 'tool');
    const results = session.messages.slice(i + 1, next < 0 ? undefined : next).map(other => (other.role === 'tool' ? other.callId : ''));
    return messageToolCalls(message).flatMap(({ id }) => {
      const found = results.filter(result => result === id).length;
      return found === 1 || (found === 0 && i === last && (waits.has(id) || ahead)) ? [] : [`${i}:${id}×${found}`];
    });
  });
}

async function play(turns: readonly ScriptedTurn[], steps: readonly Step[]): Promise<void> {
  effects.length = 0;
  const chat = scripted([...turns, ...Array.from({ length: 200 }, () => 'Talk.')]);
  const engine = createEngine({ chat, tools, retry: false, defaults: { maxTurns: 3 } });
  const disk = memoryStore();
  let session = createSession({ engine, store: disk, id: 's' });
  let written = false;
  for (const [i, step] of steps.entries()) {
    const before = { revision: session.revision, texts: userTexts(session), json: jsonCopy(session.toJSON()) };
    const said = `Said ${i}`;
    if (step.act === 'fork') {
      const fork = session.fork();
      expect(fork.toJSON()).toEqual({ ...before.json, id: fork.id });
      await perform(fork, { act: 'send', n: 1 }, said);
      expect(jsonCopy(session.toJSON())).toEqual(before.json);
    } else if (step.act === 'reload') {
      if (written) session = await openSession({ engine, store: disk, id: 's' });
    } else if (step.act === 'crash') {
      if (!written) continue;
      // The process dies in the middle of whatever it can do.
      const { store, died } = dyingStore(disk, 1 + (step.n >> 1), step.n % 2 === 0);
      const doomed = await openSession({ engine, store, id: 's' });
      const act = { idle: 'send', failed: 'retry', interrupted: 'resume', waiting: 'submit', running: 'send' } as const;
      await Promise.race([died, perform(doomed, { act: act[doomed.status], n: 1 }, said)]);
      await new Promise(resolve => setImmediate(resolve));
      session = await openSession({ engine, store: disk, id: 's' });
    } else {
      const outcome = await perform(session, step, said);
      if (outcome instanceof Error) {
        // What is refused changes nothing.
        expect(jsonCopy(session.toJSON())).toEqual(before.json);
        expect(['SessionError']).toContain(outcome.name);
      } else {
        written = true;
        expect(session.revision).toBeGreaterThan(before.revision);
        // What was said is in the history, as a message or as an answer.
        if (step.act === 'send' || step.act === 'answer') expect(JSON.stringify(session.messages)).toContain(said);
      }
    }

    expect(session.revision).toBeGreaterThanOrEqual(before.revision);
    expect(userTexts(session).slice(0, before.texts.length)).toEqual(before.texts);
    expect(session.status === 'waiting').toBe(Object.keys(session.pending).some(key => key !== 'halts'));
    expect(forgotten(session)).toEqual([]);
    // Only what is open is mended on the way out; nothing is lost there.
    const { messages } = repairMessages(session.messages);
    expect(messages.filter(({ role }) => role !== 'tool')).toEqual(session.messages.filter(({ role }) => role !== 'tool'));
    const json = jsonCopy(session.toJSON());
    expect(restoreSession(json, { engine }).toJSON()).toStrictEqual(json);
    if (written) expect(jsonCopy((await openSession({ engine, store: disk, id: 's' })).toJSON())).toEqual(json);
  }
  expect(new Set(effects).size).toBe(effects.length);
}

describe('laws of a session', () => {
  test('after any sequence of what can happen to it', async () => {
    await fc.assert(fc.asyncProperty(fc.array(turnOf, { maxLength: 12 }), fc.array(stepOf, { minLength: 1, maxLength: 14 }), play), {
      numRuns: 1500,
    });
  });
});
