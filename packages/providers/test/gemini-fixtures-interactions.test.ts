// Shapes that the Interactions API was recorded to send, with made-up content; among them its first dialect, of contents without steps.
import { gemini } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { server } from './support/interactions-server.js';
import { completed, created, delta, output, start, status, stop, thought, wire } from './support/interactions-wire.js';
import { answering } from './support/responses-wire.js';
import { run } from './support/run.js';

const read = (body: string) => run(gemini({ model: 'm', baseURL: 'http://model.test', api: 'interactions', fetch: answering(body) }));
const readEvents = (...events: (object | object[])[]) => run(server(events).chat());
const USAGE = {
  total_tokens: 30,
  total_input_tokens: 8,
  total_cached_tokens: 0,
  total_output_tokens: 5,
  total_tool_use_tokens: 0,
  total_thought_tokens: 17,
};
const ABOUT = { id: '', object: 'interaction', model: 'gemini-2.5-flash' };

const begin = (index: number, content: object) => ({ event_type: 'content.start', index, content });
const piece = (index: number, more: object) => ({ event_type: 'content.delta', index, delta: more });
const end = (index: number) => ({ event_type: 'content.stop', index });
const OLD = [
  { event_type: 'interaction.start', interaction: { ...ABOUT, status: 'in_progress' } },
  { event_type: 'interaction.status_update', interaction_id: '', status: 'in_progress' },
  begin(0, { type: 'thought' }),
  piece(0, { type: 'thought_signature', signature: 'c2ln' }),
  end(0),
  begin(1, { type: 'text' }),
  piece(1, { type: 'text', text: 'Two ' }),
  piece(1, { type: 'text', text: 'towns.' }),
  piece(1, { type: 'text_annotation', annotations: [{ type: 'url_citation', url: 'https://a.test', title: 'A' }] }),
  end(1),
  begin(2, { type: 'image' }),
  piece(2, { type: 'image', mime_type: 'image/png', data: 'AAAA' }),
  end(2),
  begin(3, { type: 'function_call', id: 'c1', name: 'map', arguments: {} }),
  piece(3, { type: 'function_call', id: 'c1', name: 'map', arguments: { town: 'Brest' } }),
  end(3),
  { event_type: 'interaction.complete', interaction: { ...ABOUT, status: 'requires_action', usage: USAGE, role: 'model' } },
];
const OUTPUTS = [
  { type: 'thought', signature: 'c2ln' },
  { type: 'text', text: 'Two towns.', annotations: [{ type: 'url_citation', url: 'https://a.test', title: 'A' }] },
  { type: 'image', mime_type: 'image/png', data: 'AAAA' },
  { type: 'function_call', id: 'c1', name: 'map', arguments: { town: 'Brest' } },
];

describe('the first dialect', () => {
  it.each([
    ['as events', wire(OLD)],
    ['whole', JSON.stringify({ ...ABOUT, status: 'requires_action', outputs: OUTPUTS, usage: USAGE }, null, 2)],
    ['whole, without a name', JSON.stringify({ status: 'requires_action', outputs: OUTPUTS, usage: USAGE, model: ABOUT.model })],
    [
      'whole at the end of events',
      wire([OLD[0]!, { ...OLD.at(-1)!, interaction: { ...ABOUT, status: 'requires_action', outputs: OUTPUTS, usage: USAGE } }]),
    ],
  ])('%s', async (_, body) => {
    const result = await read(body);
    expect(result).toMatchObject({ error: undefined, text: 'Two towns.', reasoning: '', warnings: [], model: ABOUT.model });
    expect(result).toMatchObject({ responseId: undefined, finish: 'tool_calls', raw: 'requires_action' });
    expect(result.calls.map(({ id, name, arguments: args }) => [id, name, args])).toEqual([['c1', 'map', { town: 'Brest' }]]);
    expect(result.sources).toEqual([{ type: 'source', url: 'https://a.test', title: 'A' }]);
    expect(result.events.flatMap(event => (event.type === 'file' ? [event.file] : []))).toEqual([
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
    ]);
    expect(result.events.find(({ type }) => type === 'reasoning_end')).toMatchObject({
      providerState: { gemini: { thoughtSignature: 'c2ln' } },
    });
    expect(result.usage).toEqual({ inputTokens: 8, cachedInputTokens: 0, outputTokens: 22, reasoningTokens: 17, totalTokens: 30 });
  });

  it('that breaks off is truncated', async () => {
    expect((await read(wire(OLD.slice(0, 9)))).error).toMatchObject({ reason: 'truncated', retryable: false });
  });
});

describe('an answer', () => {
  it('with a search: places once, the steps kept without empty signatures', async () => {
    const cite = (url: string) => ({ type: 'url_citation', start_index: 0, end_index: 4, url, title: 'T' });
    const result = await readEvents(
      created(),
      status('in_progress'),
      ...thought(0, 'c2ln'),
      output(1, 'News.').slice(0, -1),
      delta(1, { type: 'text_annotation_delta', annotations: [cite('https://a.test'), cite('https://b.test'), cite('https://a.test')] }),
      stop(1),
      start(2, { type: 'google_search_call', id: 's1', signature: '' }),
      delta(2, { type: 'google_search_call', arguments: { queries: ['news'] } }),
      stop(2),
      start(3, { type: 'google_search_result', call_id: 's1', signature: 'kept' }),
      delta(3, { type: 'google_search_result', result: [{ search_suggestions: '<div></div>' }], is_error: false, signature: '' }),
      stop(3),
      completed(),
    );
    expect(result).toMatchObject({ text: 'News.', finish: 'stop', warnings: [], error: undefined });
    expect(result.sources.map(({ url }) => url)).toEqual(['https://a.test', 'https://b.test']);
    const steps = result.events.flatMap(event => (event.type === 'reasoning_end' ? [event.providerState?.gemini?.step] : []));
    expect(steps.slice(1)).toEqual([
      { type: 'google_search_call', id: 's1', arguments: { queries: ['news'] } },
      { type: 'google_search_result', call_id: 's1', result: [{ search_suggestions: '<div></div>' }], is_error: false, signature: 'kept' },
    ]);
  });

  it('that is a film, whole and in events, behind an unsigned thought', async () => {
    const film = { type: 'video', mime_type: 'video/mp4', data: 'AAAAIGZ0eXA=' };
    const whole = {
      status: 'completed',
      steps: [{ type: 'thought' }, { type: 'model_output', content: [film] }],
      object: 'interaction',
      usage: USAGE,
    };
    const events = [created({ id: '' }), start(0, { type: 'model_output' }), delta(0, film), stop(0), completed('completed', { id: '' })];
    for (const result of [await read(JSON.stringify(whole)), await readEvents(events)]) {
      expect(result).toMatchObject({ error: undefined, text: '', finish: 'stop', warnings: [] });
      const blocks = result.events.filter(({ type }) => type === 'file' || type.endsWith('_end'));
      expect(blocks[0]).toMatchObject({ type: 'file', file: { type: 'file', mediaType: 'video/mp4', data: film.data } });
      expect(blocks).toHaveLength(2);
    }
  });

  it('that was cut before its first word', async () => {
    const cut = { ...ABOUT, id: 'v1_x', status: 'incomplete', usage: { ...USAGE, total_output_tokens: 0, total_tokens: 25 } };
    const result = await read(JSON.stringify(cut));
    expect(result).toMatchObject({ text: '', finish: 'length', raw: 'incomplete', responseId: 'v1_x', error: undefined });
    expect(result.usage).toMatchObject({ inputTokens: 8, outputTokens: 17, totalTokens: 25 });
  });
});
