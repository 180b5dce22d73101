import {
  askUser,
  createEngine,
  createSession,
  fail,
  foldEvents,
  halt,
  type Message,
  messageToolCalls,
  type Outcome,
  restoreSession,
  type StreamEvent,
  type Tool,
  user,
} from '@antiphon/engine';
import { type ScriptedReply, type ScriptedTurn, scripted, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { comparable, jsonCopy, plainTool } from './support.js';

// What every run must hold, over scripts that nobody would think of.

const TOOLS: readonly Tool[] = [
  plainTool('works', () => ({ fine: true })),
  plainTool(
    'slow',
    async (_, { signal }) => {
      await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
      return 'too late';
    },
    { timeoutMs: 50 },
  ),
  plainTool('deaf', () => new Promise(() => {}), { timeoutMs: 80 }),
  plainTool('fails', () => fail('It did not work.')),
  plainTool('throws', () => Promise.reject(new Error('It broke.'))),
  plainTool('returns_nothing', () => undefined),
  plainTool('reports', (_, { progress }) => {
    progress({ done: 0.5 });
    return 'reported';
  }),
  plainTool('asks', () => askUser('Which one?', { choices: ['a', 'b'] })),
  plainTool('halts', () => halt('handed_over', { to: 'a person' })),
  plainTool('approved', () => 'done', { approve: true }),
  plainTool('by_hand', undefined, { manual: true }),
  plainTool('one_at_a_time', () => 'mine', { maxConcurrency: 1 }),
];

const names = [...TOOLS.map(tool => tool.name), 'no_such_tool', '__proto__', 'toString'];

const reply: fc.Arbitrary<ScriptedReply> = fc
  .record(
    {
      chunks: fc.array(fc.string({ maxLength: 3 }), { maxLength: 4 }),
      reasoning: fc.constantFrom('Hm.', 'Let me see.'),
      sources: fc.array(fc.constantFrom({ url: 'https://a.example' }, { url: 'https://b.example' }), { maxLength: 2 }),
      toolCalls: fc.array(
        fc.record(
          {
            name: fc.constantFrom(...names),
            rawArguments: fc.constantFrom('', '{}', 'null', '{"x":1}', '{"x":', '[1]', '{"__proto__":{"a":1}}'),
            id: fc.constantFrom('c1', 'c2', 'c3'),
          },
          { requiredKeys: ['name'], noNullPrototype: true },
        ),
        { minLength: 1, maxLength: 4 },
      ),
      finishReason: fc.constantFrom('stop', 'length', 'content_filter', 'error', 'other', 'tool_calls'),
      usage: fc.record({ inputTokens: fc.nat(9), outputTokens: fc.nat(9) }, { requiredKeys: [], noNullPrototype: true }),
      error: fc.constantFrom(new Error('The socket died.')),
      firstTokenMs: fc.nat(20),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  // Ids that the script leaves out would be made at random and differ between two runs.
  .map(({ toolCalls, error, ...rest }) => ({
    ...rest,
    ...(toolCalls ? { toolCalls: toolCalls.map((call, i) => ({ ...call, id: `${call.id ?? 'd'}_${i}` })) } : {}),
    ...(error && rest.usage === undefined ? { error } : {}),
  }));

/** Blocks in any order, as only raw events can tell: several texts, texts between calls, two calls with one id. */
const rawTurn: fc.Arbitrary<ScriptedTurn> = fc
  .array(fc.constantFrom('text', 'reasoning', 'source', 'call', 'same call'), { maxLength: 5 })
  .chain(kinds => fc.constantFrom('whole', 'cut off').map(end => ({ kinds, end })))
  .map(({ kinds, end }) => [
    { type: 'message_start', model: 'raw' } as const,
    ...kinds.flatMap((kind, index): StreamEvent[] => {
      switch (kind) {
        case 'text':
          return [
            { type: 'text_delta', index, delta: 'a' },
            { type: 'text_delta', index, delta: 'b' },
            { type: 'text_end', index, text: 'ab' },
          ];
        case 'reasoning':
          return [
            { type: 'reasoning_delta', index, delta: 'r' },
            { type: 'reasoning_end', index, text: 'r', providerState: { raw: { signature: 's' } } },
          ];
        case 'source':
          return [{ type: 'source', index, source: { type: 'source', title: 't' } }];
        default: {
          const id = kind === 'call' ? `raw_${index}` : 'same';
          return [
            { type: 'tool_call_start', index, id, name: 'works' },
            { type: 'tool_call_delta', index, id, delta: '{}' },
            { type: 'tool_call', index, call: { id, name: 'works', arguments: {}, rawArguments: '{}' } },
          ];
        }
      }
    }),
    ...(end === 'whole' ? [{ type: 'message_end', finishReason: 'tool_calls', usage: { outputTokens: 1 } } as const] : []),
  ]) as fc.Arbitrary<ScriptedTurn>;

const failure = fc.constantFrom(new Error('Before the first token.'));

const script = fc.array(fc.oneof({ weight: 6, arbitrary: reply }, { weight: 3, arbitrary: rawTurn }, { weight: 1, arbitrary: failure }), {
  minLength: 1,
  maxLength: 4,
}) as fc.Arbitrary<ScriptedTurn[]>;

const kind = fc.constantFrom('generate', 'step', 'chat');

const options = fc.record(
  { mode: fc.constantFrom('auto', 'manual'), maxTurns: fc.integer({ min: 1, max: 4 }) },
  { requiredKeys: [], noNullPrototype: true },
);

const STREAMED = { generate: 'streamGenerate', step: 'streamStep', chat: 'stream' } as const;
/** What a batch of tools that runs already may still tell after an abort. */
const TOOL_EVENTS: readonly string[] = ['tool_start', 'tool_result', 'tool_progress', 'approval_request', 'question', 'step_end', 'end'];
const START: readonly Message[] = [user('Go on.')];

type Options = { mode?: 'auto' | 'manual'; maxTurns?: number };

interface Watched {
  readonly events: StreamEvent[];
  readonly outcome: Outcome;
}

function engineOf(turns: readonly ScriptedTurn[]) {
  const clock = virtualClock();
  return { clock, engine: createEngine({ chat: scripted(turns), tools: TOOLS, clock }) };
}

/** Streams a run on the virtual clock; `atEvent` is called with the count of events so far. */
async function watch(
  turns: readonly ScriptedTurn[],
  name: 'generate' | 'step' | 'chat',
  given: Options,
  signal?: AbortSignal,
  atEvent: (count: number) => void = () => {},
): Promise<Watched> {
  const { clock, engine } = engineOf(turns);
  const stream = engine[STREAMED[name]](START, { ...given, requestId: 'r', ...(signal ? { signal } : {}) });
  const events: StreamEvent[] = [];
  const done = (async () => {
    for await (const event of stream) {
      events.push(event);
      atEvent(events.length);
    }
    return stream.outcome;
  })();
  await clock.runAll();
  return { events, outcome: await done };
}

async function plainly(turns: readonly ScriptedTurn[], name: 'generate' | 'step' | 'chat', given: Options): Promise<Outcome> {
  const { clock, engine } = engineOf(turns);
  const done = engine[name](START, { ...given, requestId: 'r' });
  await clock.runAll();
  return done;
}

function expectWellFormed({ events, outcome }: Watched, name: string): void {
  expect(events.filter(event => event.type === 'end')).toHaveLength(1);
  expect(events.at(-1)).toEqual({ type: 'end', outcome });
  expect(foldEvents(events, { messages: START, requestId: 'r' })).toStrictEqual(outcome);

  // Every call is answered once, or is what the run waits for.
  const waiting =
    outcome.status !== 'interrupted'
      ? []
      : [
          ...(outcome.pending.questions ?? []).map(question => question.callId),
          ...[...(outcome.pending.approvals ?? []), ...(outcome.pending.calls ?? [])].map(call => call.id),
        ];
  if (name !== 'generate') {
    const last = outcome.messages.findLastIndex(message => message.role === 'assistant');
    outcome.messages.forEach((message, i) => {
      if (message.role !== 'assistant') return;
      const next = outcome.messages.findIndex((other, at) => at > i && other.role !== 'tool');
      const answers = outcome.messages
        .slice(i + 1, next === -1 ? undefined : next)
        .flatMap(other => (other.role === 'tool' ? [other.callId] : []));
      const calls = messageToolCalls(message).map(call => call.id);
      expect(new Set(calls).size).toBe(calls.length);
      const open = i === last ? waiting : [];
      expect([...answers, ...open].sort()).toEqual([...calls].sort());
      // In the order of the calls, whichever finished first.
      expect(answers).toEqual(calls.filter(id => !open.includes(id)));
    });
  }

  // Blocks: numbered as they began, deltas joined are the end.
  let text = new Map<number, string>();
  for (const event of events) {
    if (event.type === 'message_start') text = new Map();
    if (!('index' in event)) continue;
    if ('delta' in event) text.set(event.index, (text.get(event.index) ?? '') + event.delta);
    if (event.type === 'text_end' || event.type === 'reasoning_end') expect(event.text).toBe(text.get(event.index) ?? '');
    if (event.type === 'tool_call') expect(event.call.rawArguments).toBe(text.get(event.index) ?? '');
  }

  expect(jsonCopy(outcome.messages)).toStrictEqual(outcome.messages);
  expect(jsonCopy(outcome.steps)).toStrictEqual(outcome.steps);
}

async function expectSendable(outcome: Outcome): Promise<void> {
  const chat = scripted(['Fine.']);
  const again = await createEngine({ chat }).generate(outcome.messages);
  expect(again).toMatchObject({ status: 'completed', text: 'Fine.' });
}

describe('laws of a run', () => {
  test('folded events, the stream’s outcome and the plain call are equal', async () => {
    await fc.assert(
      fc.asyncProperty(script, kind, options, async (turns, name, given) => {
        const watched = await watch(turns, name as 'chat', given as Options);
        expectWellFormed(watched, name);
        expect(comparable(await plainly(turns, name as 'chat', given as Options))).toStrictEqual(comparable(watched.outcome));
        await expectSendable(watched.outcome);
      }),
      { numRuns: 300 },
    );
  });

  test('an abort at any event keeps what arrived, and nothing more of the model follows', async () => {
    await fc.assert(
      fc.asyncProperty(script, kind, fc.nat(30), async (turns, name, at) => {
        const stop = new AbortController();
        const watched = await watch(turns, name as 'chat', {}, stop.signal, count => {
          if (count === at + 1) stop.abort();
        });
        expectWellFormed(watched, name);
        const later = watched.events.slice(at + 1).map(event => event.type);
        expect(later.filter(type => !TOOL_EVENTS.includes(type))).toEqual([]);
        await expectSendable(watched.outcome);
      }),
      { numRuns: 300 },
    );
  });

  test('leaving the loop at any event resolves the outcome, with what was seen in it', async () => {
    await fc.assert(
      fc.asyncProperty(script, kind, fc.nat(12), async (turns, name, at) => {
        const { clock, engine } = engineOf(turns);
        const stream = engine[STREAMED[name as 'chat']](START);
        let text = '';
        const left = (async () => {
          let seen = 0;
          for await (const event of stream) {
            if (event.type === 'message_start') text = '';
            if (event.type === 'text_delta') text += event.delta;
            if (seen++ === at) break;
          }
          return stream.outcome;
        })();
        await clock.runAll();
        const outcome = await left;
        expect(outcome.text.startsWith(text) || text === '').toBe(true);
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('laws of a session', () => {
  test('after any turn its data round-trips exactly and a restored session is the same', async () => {
    await fc.assert(
      fc.asyncProperty(script, async turns => {
        const { clock, engine } = engineOf(turns);
        const session = createSession({ engine, id: 's' });
        const done = session.send('Go on.');
        await clock.runAll();
        const outcome = await done;
        const json = session.toJSON();
        expect(jsonCopy(json)).toStrictEqual(json);
        expect(restoreSession(jsonCopy(json), { engine }).toJSON()).toStrictEqual(json);
        expect(session.messages[0]).toEqual(user('Go on.'));
        expect(session.status).toBe(
          outcome.status === 'failed' ? 'failed' : Object.keys(json.pending).some(key => key !== 'halts') ? 'waiting' : 'idle',
        );
      }),
      { numRuns: 200 },
    );
  });
});
