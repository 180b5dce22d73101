// Answers of the Interactions API, read: every kind of step, in every cut, and every way to fail.
import { type ChatRequest, user } from '@antiphon/engine';
import { gemini } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { call, completed, created, delta, output, start, status, stop, thought, wire } from './support/interactions-wire.js';
import { answering, bytesOf } from './support/responses-wire.js';
import { contextOf, HELLO, run } from './support/run.js';

const BASE = { model: 'm', baseURL: 'http://model.test' };
const read = (body: string | Uint8Array[], request: ChatRequest = HELLO) =>
  run(gemini({ ...BASE, api: 'interactions', fetch: answering(body) }), request);
const readEvents = (...events: (object | object[])[]) => read(wire(events.flat()));
const statesOf = (events: readonly object[]) => events.flatMap(event => ('providerState' in event ? [event.providerState] : []));

const WHOLE = [
  created(),
  status('in_progress'),
  ...thought(0, 'c2ln/+==', 'Let me ', 'see.'),
  ...output(1, 'Grüße ', '🙂 from ', 'Oslo.'),
  ...call(2, 'c1', 'weather', '{"city":', '"Oslo"}'),
  ...call(3, 'c2', 'now'),
  completed('requires_action'),
];

describe('an answer', () => {
  it.each<[string, string | Uint8Array[]]>([
    ['whole', wire(WHOLE)],
    ['in one-byte pieces', Array.from(bytesOf(wire(WHOLE)), byte => Uint8Array.of(byte))],
    ['with CRLF', wire(WHOLE, '\r\n')],
    ['without names of events', wire(WHOLE).replaceAll(/^event: .*\n/gm, '')],
    ['as a list of JSON', JSON.stringify(WHOLE, null, 2)],
  ])('%s', async (_, body) => {
    for (const api of ['interactions', 'generate-content'] as const) {
      const result = await run(gemini({ ...BASE, api, fetch: answering(body) }));
      expect(result).toMatchObject({ error: undefined, text: 'Grüße 🙂 from Oslo.', reasoning: 'Let me see.', warnings: [] });
      expect(result.calls).toEqual([
        { id: 'c1', name: 'weather', arguments: { city: 'Oslo' }, rawArguments: '{"city":"Oslo"}', providerState: expect.anything() },
        { id: 'c2', name: 'now', arguments: {}, rawArguments: '', providerState: expect.anything() },
      ]);
      expect(result).toMatchObject({ finish: 'tool_calls', raw: 'requires_action', model: 'gemini-x', responseId: 'v1_a' });
      // Thoughts and the prompts of tools are within the other counts.
      expect(result.usage).toEqual({ inputTokens: 10, outputTokens: 10, totalTokens: 20, cachedInputTokens: 2, reasoningTokens: 6 });
      const interaction = 'v1_a';
      expect(statesOf(result.events)[0]).toEqual({ gemini: { thoughtSignature: 'c2ln/+==', interaction } });
      expect(result.calls[0]?.providerState).toEqual({ gemini: { interaction } });
    }
  });

  it('is shown while it comes', async () => {
    const result = await readEvents(WHOLE);
    const types = result.events.map(({ type }) => type);
    expect(types.filter(type => type === 'text_delta')).toHaveLength(3);
    expect(types.filter(type => type === 'tool_call_delta')).toHaveLength(2);
    expect(types.slice(0, 2)).toEqual(['message_start', 'reasoning_delta']);
  });

  it('that is one JSON value says the same', async () => {
    const steps = [
      { type: 'user_input', content: [{ type: 'text', text: 'Say hello.' }] },
      { type: 'thought', signature: 's1', summary: [{ type: 'text', text: 'Hm.' }] },
      {
        type: 'model_output',
        content: [{ type: 'text', text: 'Hello.', annotations: [{ type: 'url_citation', url: 'https://a.test', title: 'A' }] }],
      },
      { type: 'function_call', id: 'c1', name: 'weather', arguments: { city: 'Oslo' } },
    ];
    const result = await read(JSON.stringify({ ...completed('requires_action').interaction, steps }, null, 2));
    expect(result).toMatchObject({ error: undefined, text: 'Hello.', reasoning: 'Hm.', finish: 'tool_calls', responseId: 'v1_a' });
    expect(result.calls[0]).toMatchObject({ id: 'c1', arguments: { city: 'Oslo' }, rawArguments: '{"city":"Oslo"}' });
    expect(result.sources).toEqual([{ type: 'source', url: 'https://a.test', title: 'A' }]);
    expect(result.usage?.totalTokens).toBe(20);
  });

  it('without storage has no id', async () => {
    const result = await readEvents(created({ id: '' }), thought(0, 's1'), output(1, 'Hi'), completed('completed', { id: '' }));
    expect(result).toMatchObject({ text: 'Hi', finish: 'stop', raw: 'completed', responseId: undefined });
    expect(statesOf(result.events)).toEqual([{ gemini: { thoughtSignature: 's1' } }]);
  });

  it('is over with its last event, whatever the connection does', async () => {
    const body = new ReadableStream<Uint8Array>({
      start: controller => controller.enqueue(bytesOf(wire([created(), ...output(0, 'Hi'), completed()]))),
    });
    const result = await run(gemini({ ...BASE, fetch: async () => new Response(body) }));
    expect(result).toMatchObject({ text: 'Hi', finish: 'stop' });
  });

  it('shows its own events on request', async () => {
    const result = await read(wire([created(), ...output(0, 'Hi'), completed()]), { ...HELLO, raw: true });
    expect(result.events.filter(({ type }) => type === 'raw')).toHaveLength(5);
  });
});

describe('steps', () => {
  it('may hold at their start what else comes in pieces', async () => {
    const result = await readEvents(
      created(),
      start(0, { type: 'thought', signature: 's1', summary: [{ type: 'text', text: 'Hm.' }] }),
      stop(0),
      start(1, { type: 'model_output', content: [{ type: 'text', text: 'Once upon' }] }),
      delta(1, { type: 'text', text: ' a time' }),
      stop(1),
      start(2, { type: 'function_call', id: 'c1', name: 'f', arguments: { a: 1 }, signature: 's2' }),
      stop(2),
      completed(),
    );
    expect(result).toMatchObject({ reasoning: 'Hm.', text: 'Once upon a time', finish: 'tool_calls' });
    expect(result.calls[0]).toMatchObject({ arguments: { a: 1 }, providerState: { gemini: { thoughtSignature: 's2' } } });
  });

  it('that lost their beginning or their end are read all the same', async () => {
    const result = await readEvents(
      created(),
      delta(0, { type: 'thought_summary', content: { type: 'text', text: 'Hm.' } }),
      delta(1, { type: 'text', text: 'Hello.' }),
      start(2, { type: 'function_call', id: 'c1', name: 'f' }),
      delta(2, { type: 'arguments_delta', arguments: '{"a":1}' }),
      completed('requires_action'),
    );
    expect(result).toMatchObject({ error: undefined, reasoning: 'Hm.', text: 'Hello.', warnings: [] });
    expect(result.calls[0]).toMatchObject({ id: 'c1', arguments: { a: 1 } });
  });

  it('of Google’s tools are kept whole, and what they found is named once', async () => {
    const result = await readEvents(
      created({ id: '' }),
      start(0, { type: 'google_search_call', id: 'g1', signature: '' }),
      delta(0, { type: 'google_search_call', arguments: { queries: ['x'] } }),
      stop(0),
      start(1, { type: 'google_search_result', call_id: 'g1', signature: 's1' }),
      delta(1, { type: 'google_search_result', result: [{ search_suggestions: '<div/>' }, { url: 'https://a.test', title: 'A' }] }),
      stop(1),
      start(2, {
        type: 'url_context_result',
        call_id: 'u1',
        result: [
          { url: 'https://b.test', status: 'success' },
          { url: 'https://c.test', status: 'paywall' },
        ],
      }),
      stop(2),
      start(3, { type: 'code_execution_call', id: 'x1', arguments: { language: 'python', code: 'print(1)' } }),
      stop(3),
      start(4, { type: 'model_output' }),
      delta(4, { type: 'text', text: 'Yes.' }),
      delta(4, { type: 'text_annotation_delta', annotations: [{ type: 'url_citation', url: 'https://a.test', title: 'A' }] }),
      delta(4, {
        type: 'text_annotation',
        annotations: [
          { type: 'file_citation', document_uri: 'stores/1', file_name: 'a.pdf' },
          { type: 'place_citation', name: 'P', url: 'https://p.test' },
        ],
      }),
      stop(4),
      completed(),
    );
    expect(result).toMatchObject({ text: 'Yes.', reasoning: 'print(1)', finish: 'stop', warnings: [] });
    expect(statesOf(result.events).slice(0, 2)).toEqual([
      { gemini: { step: { type: 'google_search_call', id: 'g1', arguments: { queries: ['x'] } } } },
      { gemini: { step: { type: 'google_search_result', call_id: 'g1', signature: 's1', result: expect.anything() } } },
    ]);
    const sources = result.sources.map(({ url, title }) => url ?? title);
    expect(sources).toEqual(['https://a.test', 'https://b.test', 'a.pdf', 'https://p.test']);
  });

  it('hold pictures, sound and films', async () => {
    const result = await readEvents(
      created(),
      start(0, { type: 'model_output' }),
      delta(0, { type: 'text', text: 'See ' }),
      delta(0, { type: 'image', mime_type: 'image/png', data: 'AAAA' }),
      delta(0, { type: 'audio', mime_type: 'audio/l16', sample_rate: 24_000, data: 'AQ==' }),
      delta(0, { type: 'audio', mime_type: 'audio/l16', data: 'AgM=' }),
      delta(0, { type: 'video', mime_type: 'video/mp4', uri: 'https://v.test/1' }),
      delta(0, { type: 'text', text: 'and hear.' }),
      delta(0, { type: 'image' }),
      stop(0),
      completed(),
    );
    const files = result.events.flatMap(event => (event.type === 'file' ? [event.file] : []));
    expect(files).toMatchObject([
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'file', mediaType: 'audio/l16;rate=24000', data: 'AQID' },
      { type: 'file', mediaType: 'video/mp4', url: 'https://v.test/1' },
    ]);
    expect(result.text).toBe('See and hear.');
    expect(result.warnings).toHaveLength(1);
  });

  it('of unknown kinds do no harm, and are told', async () => {
    const result = await readEvents(
      created(),
      { event_type: 'interaction.weather' },
      start(0, { type: 'constructor', x: 1 }),
      delta(0, { type: '__proto__' }),
      stop(0),
      start(1, { type: 'model_output' }),
      delta(1, { type: 'scent', scent: 'rose' }),
      delta(1, { type: 'text', text: 'Hi' }),
      stop(1),
      completed('toString'),
    );
    expect(result).toMatchObject({ error: undefined, text: 'Hi', finish: 'other', raw: 'toString' });
    expect(result.warnings).toHaveLength(3);
    expect(statesOf(result.events)[0]).toMatchObject({ gemini: { step: { type: 'constructor', x: 1 } } });
  });

  it('law: no shape of an event breaks it', async () => {
    const odd = [null, 1, 'x', [], {}, { type: 1 }, [null], { content: [null, 1] }, { arguments: [] }, { text: {} }];
    const kinds = ['step.start', 'step.delta', 'step.stop', 'interaction.created', 'interaction.completed', 'interaction.status_update', 1];
    const types = [
      'thought',
      'model_output',
      'function_call',
      'google_search_result',
      'text',
      'audio',
      'thought_summary',
      'arguments_delta',
    ];
    for (const event_type of kinds) {
      for (const value of odd) {
        const typed = types.map(type => ({
          event_type,
          index: 0,
          step: Object.assign({ type }, value),
          delta: Object.assign({ type }, value),
        }));
        const plain = { event_type, index: value, step: value, delta: value, interaction: value, status: value };
        const { error } = await readEvents(typed, plain, completed());
        expect(error).toBeUndefined();
      }
    }
  });
});

it('an abort throws the reason of the signal', async () => {
  const controller = new AbortController();
  const stream = gemini({ ...BASE, api: 'interactions', fetch: answering(wire(WHOLE)) }).stream(
    { messages: [user('Hi')] },
    contextOf(controller.signal),
  );
  const reading = (async () => {
    for await (const event of stream) if (event.type === 'text_delta') controller.abort('enough');
  })();
  await expect(reading).rejects.toBe('enough');
});
