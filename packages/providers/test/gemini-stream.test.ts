// What comes over the wire, kind by kind: from chunks to events.
import { AdapterError } from '@antiphon/engine';
import { gemini } from '@antiphon/providers';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { callsOf, HELLO, type Run, run } from './support/run.js';

const USAGE = { promptTokenCount: 11, candidatesTokenCount: 4, totalTokenCount: 15 };
const END = { candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }], usageMetadata: USAGE };

const chunk = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts } }], modelVersion: 'm-1', responseId: 'r-1' });
const ends = (finishReason: string, more: object = {}) => ({ candidates: [{ finishReason, ...more }] });
const call = (functionCall: object, more: object = {}) => chunk({ functionCall, ...more });

function sse(chunks: readonly unknown[]): string {
  return chunks.map(value => `data: ${JSON.stringify(value)}\n\n`).join('');
}

function answerTo(body: string, request = HELLO): Promise<Run> {
  return run(gemini({ model: 'm', baseURL: 'http://model.test', fetch: async () => new Response(body) }), request);
}

const read = (...chunks: unknown[]) => answerTo(sse(chunks));
const blocksOf = ({ events }: Run) => events.filter(({ type }) => /_end$|^tool_call$|^source$|^file$/.test(type) && type !== 'message_end');

describe('text and thoughts', () => {
  it('reads text, model, id and usage', async () => {
    const result = await read(chunk({ text: 'Good ' }), chunk({ text: 'day' }), END);
    expect(result).toMatchObject({ text: 'Good day', finish: 'stop', raw: 'STOP', model: 'm-1', responseId: 'r-1', warnings: [] });
    expect(result.usage).toEqual({ inputTokens: 11, outputTokens: 4, totalTokens: 15 });
  });

  it('sets thoughts apart', async () => {
    const result = await read(chunk({ text: 'Hm.', thought: true }, { text: 'Yes.' }), END);
    expect([result.reasoning, result.text]).toEqual(['Hm.', 'Yes.']);
  });

  it('keeps each signature on its own part', async () => {
    const result = await read(
      chunk({ text: 'A', thought: true }),
      chunk({ text: 'B', thought: true, thoughtSignature: 's1' }),
      chunk({ text: 'C' }),
      chunk({ text: 'D', thoughtSignature: 's2' }),
      chunk({ text: 'E' }),
      chunk({ text: '', thoughtSignature: 's3' }),
      END,
    );
    expect(blocksOf(result)).toEqual([
      { type: 'reasoning_end', index: 0, text: 'A', providerState: { gemini: { thought: true } } },
      { type: 'reasoning_end', index: 1, text: 'B', providerState: { gemini: { thoughtSignature: 's1' } } },
      { type: 'text_end', index: 2, text: 'C' },
      { type: 'text_end', index: 3, text: 'D', providerState: { gemini: { thoughtSignature: 's2' } } },
      { type: 'text_end', index: 4, text: 'E' },
      { type: 'reasoning_end', index: 5, text: '', providerState: { gemini: { part: { text: '', thoughtSignature: 's3' } } } },
    ]);
    expect([result.text, result.reasoning]).toEqual(['CDE', 'AB']);
  });

  it('reads code that Google ran as reasoning, with the part as it came', async () => {
    const code = { executableCode: { language: 'PYTHON', code: 'print(1)' }, thoughtSignature: 's' };
    const output = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } };
    const result = await read(chunk(code), chunk(output), chunk({ text: 'It is 1.' }), END);
    expect(blocksOf(result).slice(0, 2)).toEqual([
      { type: 'reasoning_end', index: 0, text: 'print(1)', providerState: { gemini: { part: code } } },
      { type: 'reasoning_end', index: 1, text: '1\n', providerState: { gemini: { part: output } } },
    ]);
    expect(result.text).toBe('It is 1.');
  });

  it('gives pictures and other files, but no drafts', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 's' };
    const sound = { inlineData: { mimeType: 'audio/wav', data: 'BBBB' } };
    const result = await read(chunk({ ...image, thought: true }), chunk(image), chunk(sound), END);
    expect(blocksOf(result)).toEqual([
      {
        type: 'file',
        index: 0,
        file: { type: 'image', mediaType: 'image/png', data: 'AAAA', providerState: { gemini: { thoughtSignature: 's' } } },
      },
      { type: 'file', index: 1, file: { type: 'file', mediaType: 'audio/wav', data: 'BBBB' } },
    ]);
    expect(result.warnings.map(({ message }) => message)).toEqual(['A picture from the thoughts of the model was left out.']);
  });

  it('tells of parts that nobody knows, and of a second candidate', async () => {
    const second = { candidates: [{ index: 1, content: { parts: [{ text: 'no' }] } }] };
    const result = await read(chunk({ hologram: {} }), chunk({}), second, second, chunk({ text: 'yes' }), END);
    expect(result.text).toBe('yes');
    expect(result.warnings.map(({ message }) => message)).toEqual([
      'The answer has a part of the unknown kind "hologram", which was left out.',
      'The server sent more than one candidate; only the first is read.',
    ]);
  });

  it('passes raw chunks on when asked', async () => {
    const result = await answerTo(sse([chunk({ text: 'x' }), END]), { ...HELLO, raw: true });
    expect(result.events.filter(({ type }) => type === 'raw')).toHaveLength(2);
  });
});

describe('sources', () => {
  it('come once, before the end, from grounding, citations and pages', async () => {
    const groundingMetadata = {
      groundingChunks: [
        { web: { uri: 'https://a.test', title: 'A' } },
        { retrievedContext: { uri: 'gs://b', title: 'B', text: 'quoted' } },
        { maps: { uri: 'https://maps.test/1', title: 'M' } },
        { web: {} },
        null,
      ],
    };
    const citationMetadata = { citationSources: [{ uri: 'https://c.test' }, 5] };
    const urlContextMetadata = {
      urlMetadata: [
        { retrievedUrl: 'https://d.test', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
        { retrievedUrl: 'https://e.test', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_ERROR' },
      ],
    };
    const told = { candidates: [{ groundingMetadata, citationMetadata, urlContextMetadata }] };
    const result = await read(chunk({ text: 'x' }), told, told, END);
    expect(result.sources).toEqual([
      { type: 'source', url: 'https://a.test', title: 'A' },
      { type: 'source', url: 'gs://b', title: 'B', quote: 'quoted' },
      { type: 'source', url: 'https://maps.test/1', title: 'M' },
      { type: 'source', url: 'https://c.test' },
      { type: 'source', url: 'https://d.test' },
    ]);
    expect(result.events.at(-1)?.type).toBe('message_end');
  });
});

describe('whole calls', () => {
  it('keep signature and id, and finish as tool_calls', async () => {
    const result = await read(call({ id: 'c1', name: 'add', args: { a: 1 } }, { thoughtSignature: 's' }), call({ name: 'now' }), END);
    expect(callsOf(result)).toEqual([
      ['add', { a: 1 }],
      ['now', {}],
    ]);
    expect(result.calls[0]).toMatchObject({ id: 'c1', providerState: { gemini: { id: 'c1', thoughtSignature: 's' } } });
    expect(result.calls[1]?.providerState).toBeUndefined();
    expect([result.finish, result.raw]).toEqual(['tool_calls', 'STOP']);
  });

  it('take arguments as text, as null, and with hostile names', async () => {
    const args = JSON.parse('{"__proto__":{"x":1},"constructor":2}');
    const result = await read(call({ name: 'a', args: '{"b":1}' }), call({ name: 'c', args: null }), call({ name: 'd', args }), END);
    expect(result.calls.map(({ rawArguments }) => rawArguments)).toEqual(['{"b":1}', '', '{"__proto__":{"x":1},"constructor":2}']);
    expect(Object.hasOwn(result.calls[2]!.arguments, '__proto__')).toBe(true);
  });
});

describe('how an answer ends', () => {
  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['MALFORMED_FUNCTION_CALL', 'error'],
    ['UNEXPECTED_TOOL_CALL', 'error'],
    ['MISSING_THOUGHT_SIGNATURE', 'error'],
    ['LANGUAGE', 'other'],
    ['OTHER', 'other'],
    ['SOMETHING_NEW', 'other'],
  ])('%s is %s', async (raw, finish) => {
    const result = await read(chunk({ text: 'x' }), ends(raw));
    expect([result.finish, result.raw, result.error]).toEqual([finish, raw, undefined]);
  });

  it('tells why, where the server says it', async () => {
    const result = await read(ends('MALFORMED_FUNCTION_CALL', { finishMessage: 'Malformed function call: f(' }));
    expect(result.warnings.map(({ message }) => message)).toEqual(['MALFORMED_FUNCTION_CALL: Malformed function call: f(']);
  });

  it('a blocked prompt is an answer that was filtered', async () => {
    const result = await read({
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
    });
    expect(result).toMatchObject({ finish: 'content_filter', raw: 'PROHIBITED_CONTENT', text: '', error: undefined });
    expect(result.usage).toEqual({ inputTokens: 4, outputTokens: 0, totalTokens: 4 });
    expect(result.warnings[0]?.message).toBe('The prompt was blocked (PROHIBITED_CONTENT).');
  });

  it('STOP on each chunk ends nothing early', async () => {
    const each = (text: string) => ({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] });
    expect((await read(each('a'), each('b'), each('c'))).text).toBe('abc');
  });
});

describe('an answer that is none', () => {
  const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } };

  it.each<[string, string, object, RegExp]>([
    ['error first', sse([error]), { reason: 'provider_unavailable', status: 503, retryable: true }, /overloaded/],
    ['error in the middle', sse([chunk({ text: 'x' }), error]), { reason: 'provider_unavailable', retryable: false }, /overloaded/],
    [
      'bare error in the middle',
      `${sse([chunk({ text: 'x' })])}${JSON.stringify(error, null, 2)}\n`,
      { reason: 'provider_unavailable' },
      /overloaded/,
    ],
    ['error in a list', JSON.stringify([error]), { reason: 'provider_unavailable' }, /overloaded/],
    ['error after the end', sse([chunk({ text: 'x' }), END, error]), { reason: 'provider_unavailable' }, /overloaded/],
    ['named error event', 'event: error\ndata: it broke\n\n', { reason: 'unknown' }, /it broke/],
    ['message without error', '{"message":"slow down"}', { reason: 'unknown' }, /slow down/],
    ['cut', sse([chunk({ text: 'x' })]), { reason: 'truncated', retryable: false }, /without a finish reason/],
    ['cut before anything', sse([chunk()]), { reason: 'truncated', retryable: true }, /without a finish reason/],
    ['cut list', JSON.stringify([chunk({ text: 'x' }), END]).slice(0, -60), { reason: 'truncated' }, /without a finish reason/],
    ['nothing', '', { reason: 'truncated', retryable: true }, /empty answer/],
    ['empty list', '[]', { reason: 'truncated', retryable: true }, /empty answer/],
    ['a web page', '<!doctype html><html><title>Login</title></html>', { reason: 'malformed_response' }, /web page \("Login"\).*base URL/],
    ['words', 'no such thing', { reason: 'malformed_response' }, /no such thing/],
  ])('%s', async (_, body, expected, message) => {
    const result = await answerTo(body);
    expect(result.error).toBeInstanceOf(AdapterError);
    expect(result.error).toMatchObject({ ...expected, provider: 'gemini' });
    expect(result.error?.message).toMatch(message);
  });

  it('bad events between good ones are left out and told', async () => {
    const result = await answerTo(
      `data: {"broken\n\ndata: :keep-alive\n\ndata:\n\n${sse([5, null, chunk({ text: 'x' }), END])}data: [DONE]\n\n`,
    );
    expect([result.text, result.error]).toEqual(['x', undefined]);
    expect(result.warnings.map(({ code }) => code)).toEqual(['malformed_event']);
  });

  test('law: no body makes it throw anything but an AdapterError', async () => {
    const junk = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.json()).map(list => list.map(text => `data: ${text}\n\n`).join('')),
    );
    await fc.assert(
      fc.asyncProperty(junk, async body => {
        const { error } = await answerTo(body);
        expect(error).toBeInstanceOf(AdapterError);
      }),
      { numRuns: 200 },
    );
  });

  test('law: no shape of a chunk breaks it', async () => {
    const any = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.string()), fc.object({ maxDepth: 1 }));
    const names = [
      'text',
      'thought',
      'thoughtSignature',
      'functionCall',
      'inlineData',
      'executableCode',
      'codeExecutionResult',
      'fileData',
    ];
    const part = fc.dictionary(fc.constantFrom(...names), any, { maxKeys: 3 });
    const functionCall = fc.record({ name: any, args: any, id: any, partialArgs: any, willContinue: any }, { requiredKeys: [] });
    const parts = fc.array(fc.oneof(any, part, fc.record({ functionCall, thoughtSignature: any }, { requiredKeys: ['functionCall'] })));
    const candidate = fc.record(
      { content: fc.oneof(any, fc.record({ parts })), groundingMetadata: any, citationMetadata: any, finishMessage: any },
      { requiredKeys: ['content'] },
    );
    const wire = fc.record(
      { candidates: fc.oneof(any, fc.array(candidate)), usageMetadata: any, promptFeedback: any },
      { requiredKeys: ['candidates'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(wire), async chunks => {
        const { error, finish } = await read(...chunks, END);
        if (!error) expect(['stop', 'tool_calls', 'content_filter']).toContain(finish);
        expect(error === undefined || error instanceof AdapterError).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
