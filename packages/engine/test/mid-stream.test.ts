import { getEventListeners } from 'node:events';
import {
  AdapterError,
  type AdapterEvent,
  type CallOptions,
  createEngine,
  foldEvents,
  type Outcome,
  type StreamEvent,
  user,
} from '@antiphon/engine';
import { type ScriptedTurn, scripted, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collect, settled, typesOf } from './support.js';

const lost = (reason: 'network_error' | 'rate_limited' | 'provider_unavailable' | 'truncated' = 'network_error') =>
  new AdapterError(reason, 'The line went dead.', { retryable: reason !== 'truncated' });
const refused = () => new AdapterError('content_filter', 'No more of this.');

async function watch(turns: readonly ScriptedTurn[], options: CallOptions = {}, continuation = true) {
  const clock = virtualClock();
  const chat = Object.assign(scripted(turns), { continuation });
  const engine = createEngine({ chat, clock, retry: { baseMs: 1 } });
  const stream = engine.stream('Hi', options);
  const events = await settled(clock, collect(stream));
  const outcome = await stream.outcome;
  expect(foldEvents(events, { messages: [user('Hi')], requestId: outcome.requestId })).toStrictEqual(outcome);
  expect(clock.pending).toBe(0);
  return { events, outcome, requests: chat.requests };
}

/** What a reader who knows nothing of the fold has in hand: deltas by block, emptied by a retry that does not go on. */
function textByHand(events: readonly StreamEvent[]): string {
  const blocks = new Map<number, string>();
  for (const event of events) {
    if (event.type === 'text_delta') blocks.set(event.index, (blocks.get(event.index) ?? '') + event.delta);
    if (event.type === 'retry' && !event.continued) blocks.clear();
  }
  return [...blocks]
    .sort(([a], [b]) => a - b)
    .map(([, text]) => text)
    .join('');
}

describe('an answer that breaks off', () => {
  const half: ScriptedTurn = { text: 'It is 12', error: lost() };
  const thought: ScriptedTurn = { reasoning: 'Hm.', error: lost() };
  const calling: ScriptedTurn = { text: 'Let me see.', toolCalls: [{ id: 'c', name: 'look' }], error: lost() };
  const rest: ScriptedTurn = { chunks: [' °C', ' there.'] };

  test.each<readonly [string, CallOptions['onStreamError'], ScriptedTurn, string, string, number]>([
    ['surface, text', undefined, half, 'failed', 'It is 12', 1],
    ['surface, reasoning', 'surface', thought, 'failed', '', 1],
    ['restart, text', 'restart', half, 'failed', 'It is 12', 1],
    ['restart, reasoning', 'restart', thought, 'completed', ' °C there.', 2],
    ['restart, reasoning and a call', 'restart', { reasoning: 'Hm.', toolCalls: [{ name: 'look' }], error: lost() }, 'failed', '', 1],
    ['continue, text', 'continue', half, 'completed', 'It is 12 °C there.', 2],
    ['continue, reasoning', 'continue', thought, 'completed', ' °C there.', 2],
    [
      'continue, reasoning and text',
      'continue',
      { reasoning: 'Hm.', text: 'It is 12', error: lost() },
      'completed',
      'It is 12 °C there.',
      2,
    ],
    ['continue, a call', 'continue', calling, 'failed', 'Let me see.', 1],
    ['continue, a source', 'continue', { text: 'a', sources: [{ title: 't' }], error: lost() }, 'failed', 'a', 1],
    ['continue, overloaded', 'continue', { text: 'It is 12', error: lost('provider_unavailable') }, 'completed', 'It is 12 °C there.', 2],
    ['continue, cut off', 'continue', { text: 'It is 12', error: lost('truncated') }, 'completed', 'It is 12 °C there.', 2],
    [
      'continue, without an end',
      'continue',
      [{ type: 'message_start' }, { type: 'text_delta', index: 0, delta: 'It is 12' }],
      'completed',
      'It is 12 °C there.',
      2,
    ],
    ['continue, a failure that stays', 'continue', { text: 'It is 12', error: refused() }, 'failed', 'It is 12', 1],
    ['continue, a bug', 'continue', { text: 'It is 12', error: new Error('bug') }, 'failed', 'It is 12', 1],
  ])('%s', async (_, onStreamError, first, status, text, sent) => {
    const { outcome, events, requests } = await watch([first, rest], onStreamError === undefined ? {} : { onStreamError });
    expect(outcome).toMatchObject({ status, text });
    expect(textByHand(events)).toBe(text);
    expect(requests).toHaveLength(sent);
  });

  test('what goes on is one message, and the model is given its own beginning', async () => {
    const { events, outcome, requests } = await watch([{ reasoning: 'Hm.', text: 'It is 12', error: lost() }, rest], {
      onStreamError: 'continue',
    });
    expect(typesOf(events)).toEqual([
      'message_start',
      'reasoning_delta',
      'reasoning_end',
      'text_delta',
      'text_delta',
      'text_delta',
      'retry',
      'text_delta',
      'text_delta',
      'text_end',
      'message_end',
      'step_end',
      'end',
    ]);
    expect(events.find(event => event.type === 'retry')).toMatchObject({ continued: true, attempt: 1, error: { reason: 'network_error' } });
    expect(new Set(events.flatMap(event => (event.type === 'text_delta' ? [event.index] : [])))).toEqual(new Set([1]));
    expect(requests[1]?.messages).toEqual([user('Hi'), { role: 'assistant', content: 'It is 12' }]);
    expect(outcome).toMatchObject({
      reasoning: 'Hm.',
      message: {
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'It is 12 °C there.' },
        ],
      },
    });
    expect(outcome.steps).toHaveLength(1);
  });

  test('blocks that a later try begins get numbers of their own', async () => {
    const second: AdapterEvent[] = [
      { type: 'message_start', model: 'other' },
      { type: 'reasoning_delta', index: 0, delta: 'Again.' },
      { type: 'reasoning_end', index: 0, text: 'Again.' },
      { type: 'text_delta', index: 1, delta: ' b' },
      { type: 'text_end', index: 1, text: ' b' },
      { type: 'tool_call_start', index: 2, id: 'c', name: 'look' },
      { type: 'tool_call', index: 2, call: { id: 'c', name: 'look', arguments: {}, rawArguments: '{}' } },
      { type: 'message_end', finishReason: 'tool_calls', usage: {} },
    ];
    const { outcome } = await watch([{ text: 'a', error: lost() }, second], { onStreamError: 'continue', mode: 'manual' });
    expect(outcome.message?.content).toMatchObject([
      { type: 'text', text: 'a b' },
      { type: 'reasoning', text: 'Again.' },
      { type: 'tool_call', id: 'c' },
    ]);
  });

  test('an answer that was complete but for its end stays as it is', async () => {
    const done: AdapterEvent[] = [{ type: 'message_start' }, { type: 'message_end', finishReason: 'stop', usage: { outputTokens: 1 } }];
    const { outcome, events } = await watch([{ text: 'All of it.', error: lost() }, done], { onStreamError: 'continue' });
    expect(outcome).toMatchObject({ status: 'completed', text: 'All of it.', usage: { outputTokens: 1 } });
    expect(events.filter(event => event.type === 'text_end')).toEqual([{ type: 'text_end', index: 0, text: 'All of it.' }]);
  });

  test('what lost tries are known to have used is counted', async () => {
    const first: AdapterEvent[] = [
      { type: 'message_start', usage: { inputTokens: 10, cachedInputTokens: 4 } },
      { type: 'text_delta', index: 0, delta: 'a' },
    ];
    const second: ScriptedTurn = { text: 'b', usage: { inputTokens: 11, outputTokens: 2 } };
    const { outcome } = await watch([first, second], { onStreamError: 'continue' });
    expect(outcome).toMatchObject({ text: 'ab', usage: { inputTokens: 21, cachedInputTokens: 4, outputTokens: 2 } });
  });

  test('all tries count together, and a failure before the next word is an ordinary retry', async () => {
    const piece = (text: string): ScriptedTurn => ({ text, error: lost() });
    const three = await watch([piece('a'), piece('b'), 'c', 'never'], { onStreamError: 'continue' });
    expect(three.outcome).toMatchObject({ status: 'completed', text: 'abc' });
    const tooMany = await watch([piece('a'), piece('b'), piece('c'), 'never'], { onStreamError: 'continue' });
    expect(tooMany.outcome).toMatchObject({ status: 'failed', text: 'abc' });
    const before = await watch([piece('a'), lost('rate_limited'), 'b'], { onStreamError: 'continue' });
    expect(before.outcome).toMatchObject({ status: 'completed', text: 'ab' });
    expect(before.requests[2]?.messages).toHaveLength(2);
    const never = await watch([piece('a'), 'never'], { onStreamError: 'continue', retry: false });
    expect(never).toMatchObject({ outcome: { status: 'failed', text: 'a' }, requests: { length: 1 } });
  });

  test('a restart takes back the reasoning that was shown', async () => {
    const { events, outcome } = await watch([thought, { reasoning: 'Anew.', text: 'Fine.' }], { onStreamError: 'restart' });
    expect(events.filter(event => event.type === 'message_start')).toHaveLength(2);
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine.', reasoning: 'Anew.', message: { content: { length: 2 } } });
  });

  test('an adapter that cannot go on surfaces, with a warning', async () => {
    const { outcome } = await watch([half, rest], { onStreamError: 'continue' }, false);
    expect(outcome).toMatchObject({ status: 'failed', text: 'It is 12', error: { reason: 'network_error' } });
    expect(outcome.warnings).toMatchObject([{ setting: 'onStreamError', message: expect.stringContaining('scripted cannot go on') }]);
  });

  test('an abort between two tries keeps the text', async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const chat = Object.assign(scripted([half, rest]), { continuation: true });
    const engine = createEngine({ chat, clock, retry: { baseMs: 1000 } });
    const done = engine.chat('Hi', { onStreamError: 'continue', signal: stop.signal });
    await clock.advance(5);
    stop.abort();
    expect(await settled(clock, done)).toMatchObject({ status: 'interrupted', reason: 'aborted', text: 'It is 12' });
    expect([chat.requests.length, clock.pending, getEventListeners(stop.signal, 'abort').length]).toEqual([1, 0, 0]);
  });
});

describe('laws', () => {
  const error = fc.constantFrom(
    lost(),
    lost('rate_limited'),
    lost('truncated'),
    refused(),
    new Error('bug'),
    new AdapterError('timeout', 't', { retryable: true }),
  );
  const kinds = fc.array(fc.constantFrom('text', 'text', 'reasoning', 'source', 'call'), { maxLength: 4 });
  const turn = fc
    .record({ kinds, error: fc.option(error, { nil: undefined }), cut: fc.nat(14) })
    .map(({ kinds, error, cut }): ScriptedTurn => {
      const whole: AdapterEvent[] = [
        { type: 'message_start', usage: { inputTokens: 1 } },
        ...kinds.flatMap((kind, index): AdapterEvent[] => {
          if (kind === 'source') return [{ type: 'source', index, source: { type: 'source', title: 't' } }];
          if (kind === 'call') {
            const id = `call_${index}`;
            return [
              { type: 'tool_call_start', index, id, name: 'look' },
              { type: 'tool_call', index, call: { id, name: 'look', arguments: {}, rawArguments: '{}' } },
            ];
          }
          const type = kind as 'text' | 'reasoning';
          return [
            { type: `${type}_delta`, index, delta: `${type[0]}${index}` },
            { type: `${type}_delta`, index, delta: '.' },
            { type: `${type}_end`, index, text: `${type[0]}${index}.` },
          ];
        }),
        { type: 'message_end', finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } },
      ];
      if (!error) return whole;
      // A list cannot throw, so the failing turn is a list that ends too early or a thrown error.
      return cut === 0 ? error : whole.slice(0, Math.min(cut, whole.length - 1));
    });

  test('failures at every place: one end, as many tries as allowed, one message at a time, blocks in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('surface', 'restart', 'continue'),
        fc.boolean(),
        fc.option(fc.nat(20), { nil: undefined }),
        async (turns, onStreamError, continuation, abortAt) => {
          const clock = virtualClock();
          const stop = new AbortController();
          const chat = Object.assign(scripted(turns), { continuation });
          const engine = createEngine({ chat, clock, retry: { baseMs: 1 } });
          const stream = engine.streamGenerate('Hi', { onStreamError, signal: stop.signal });
          const events: StreamEvent[] = [];
          const read = (async (): Promise<Outcome> => {
            for await (const event of stream) if (events.push(event) === abortAt) stop.abort();
            return stream.outcome;
          })();
          const outcome = await settled(clock, read);
          expect(events.filter(event => event.type === 'end')).toHaveLength(1);
          expect(foldEvents(events, { messages: [user('Hi')] })).toStrictEqual(outcome);
          expect(chat.requests.length).toBeLessThanOrEqual(3);
          expect([clock.pending, getEventListeners(stop.signal, 'abort').length]).toEqual([0, 0]);
          expect(textByHand(events)).toBe(outcome.text);
          let open = false;
          const ended = new Set<number>();
          for (const event of events) {
            if (event.type === 'message_start') {
              expect(open).toBe(false);
              open = true;
            }
            if (event.type === 'retry' && !event.continued) {
              open = false;
              ended.clear();
            }
            if ('index' in event) expect(ended.has(event.index)).toBe(false);
            if (event.type === 'text_end' || event.type === 'reasoning_end' || event.type === 'tool_call') ended.add(event.index);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
