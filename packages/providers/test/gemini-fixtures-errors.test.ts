// Errors that Google was recorded to send, with made-up names: reason, the server's words, and how long to wait.
import { AdapterError, audioPart } from '@antiphon/engine';
import { elevenlabsTranscription, gemini, geminiEmbeddings, geminiImages, geminiTranscription } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { jsonFetch } from './support/one-answer.js';
import { contextOf, run } from './support/run.js';

const OPTIONS = { model: 'gemini-3-flash-preview', baseURL: 'http://model.test', apiKey: 'k-secret' };
const rpc = (name: string, more: object) => ({ '@type': `type.googleapis.com/google.rpc.${name}`, ...more });
const fault = (code: number, status: string, message: string, ...details: object[]) => ({
  error: { code, message, status, ...(details.length > 0 ? { details } : {}) },
});

describe.each(['generate-content', 'interactions'] as const)('%s', api => {
  it.each<[string, number, object, object, string]>([
    [
      'a quota of the minute',
      429,
      fault(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please look at your plan.',
        rpc('QuotaFailure', { violations: [{ quotaId: 'RequestsPerMinutePerProject-FreeTier' }] }),
        rpc('RetryInfo', { retryDelay: '12.5s' }),
      ),
      { reason: 'rate_limited', retryable: true, status: 429, retryAfterMs: 12_500 },
      'look at your plan',
    ],
    [
      'a key that nobody knows',
      400,
      fault(400, 'INVALID_ARGUMENT', 'API Key not found.', rpc('ErrorInfo', { reason: 'API_KEY_INVALID', domain: 'googleapis.com' })),
      { reason: 'authentication_failed', retryable: false },
      'API Key not found',
    ],
    [
      'a level of thinking',
      400,
      fault(400, 'INVALID_ARGUMENT', 'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.'),
      { reason: 'invalid_request', retryable: false },
      'Thinking level MINIMAL',
    ],
    [
      'an error of Interactions',
      400,
      { error: { message: "Invalid input at 'input[0]'.", code: 'invalid_request' } },
      { reason: 'invalid_request' },
      'input[0]',
    ],
    [
      'an error within an error',
      500,
      {
        error: {
          message: JSON.stringify(fault(429, 'RESOURCE_EXHAUSTED', 'Slow down.', rpc('RetryInfo', { retryDelay: '3s' })), null, 2),
          code: 500,
        },
      },
      { reason: 'provider_unavailable', retryAfterMs: 3000 },
      'answered 500: Slow down.',
    ],
  ])('%s', async (_, status, body, expected, words) => {
    const { error } = await run(gemini({ ...OPTIONS, api, fetch: jsonFetch(body, { status }).fetch }));
    expect(error).toBeInstanceOf(AdapterError);
    expect(error).toMatchObject({ provider: 'gemini', status, ...expected });
    expect(error?.message).toContain(words);
  });

  it('an error within an error, in the stream', async () => {
    const inner = JSON.stringify(fault(503, 'UNAVAILABLE', 'The model is overloaded.'));
    const body = `data: ${JSON.stringify({ error: { message: inner, code: 503, status: 'Service Unavailable' } })}\n\n`;
    const { error } = await run(gemini({ ...OPTIONS, api, fetch: async () => new Response(body) }));
    expect(error).toMatchObject({ reason: 'provider_unavailable', status: 503, retryable: true });
    expect(error?.message).toBe('gemini reported an error: The model is overloaded.');
  });
});

describe('what is no chat', () => {
  const audio = audioPart(Uint8Array.of(1), 'audio/wav');

  it('tells why a picture was refused, in the server’s words', async () => {
    const image = (body: unknown) => geminiImages({ ...OPTIONS, fetch: jsonFetch(body).fetch }).generateImage({ prompt: 'A' }, contextOf());
    await expect(image({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Not this.' } })).rejects.toMatchObject({
      reason: 'content_filter',
      message: 'gemini blocked the prompt (PROHIBITED_CONTENT): Not this.',
    });
    await expect(image({ candidates: [{ finishReason: 'IMAGE_SAFETY', finishMessage: 'Unable to show it.' }] })).rejects.toMatchObject({
      reason: 'content_filter',
      message: 'gemini blocked the answer (IMAGE_SAFETY): Unable to show it.',
    });
    await expect(
      image({ candidates: [{ content: {}, finishReason: 'NO_IMAGE', finishMessage: 'Ask for a picture.' }] }),
    ).rejects.toMatchObject({
      reason: 'malformed_response',
      message: 'gemini answered without a picture (NO_IMAGE): Ask for a picture.',
    });
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
    const unspecified = {
      promptFeedback: { blockReason: 'BLOCKED_REASON_UNSPECIFIED' },
      candidates: [{ content: { parts }, finishReason: 'STOP' }],
    };
    expect((await image(unspecified)).images).toHaveLength(1);
  });

  it('a transcript that the server paused is cut', async () => {
    const body = { candidates: [{ content: { parts: [{ text: 'Well' }] }, finishReason: 'CONTINUATION' }] };
    const adapter = geminiTranscription({ ...OPTIONS, fetch: jsonFetch(body).fetch });
    await expect(adapter.transcribe({ audio }, contextOf())).rejects.toMatchObject({ reason: 'truncated' });
  });

  it('counts the tokens of vectors, and tells of too many texts', async () => {
    const body = {
      embeddings: [{ values: [0.6, 0.8] }],
      usageMetadata: { promptTokenCount: 6, promptTokenDetails: [{ modality: 'TEXT', tokenCount: 6 }] },
    };
    const embed = (answer: object, status = 200) =>
      geminiEmbeddings({ ...OPTIONS, fetch: jsonFetch(answer, { status }).fetch }).embed({ input: ['a'] }, contextOf());
    expect(await embed(body)).toMatchObject({ usage: { inputTokens: 6 }, embeddings: [{ index: 0, vector: [0.6, 0.8] }] });
    await expect(
      embed(fault(400, 'INVALID_ARGUMENT', '* requests: at most 100 requests can be in one batch\n'), 400),
    ).rejects.toMatchObject({
      reason: 'invalid_request',
      message: 'gemini answered 400: * requests: at most 100 requests can be in one batch',
    });
  });

  it('an error within an error of another vendor', async () => {
    const inner = `${JSON.stringify(fault(429, 'RESOURCE_EXHAUSTED', 'Resource is used up.'), null, 2)}\n`;
    const { fetch } = jsonFetch({ error: { message: inner, code: 429 } }, { status: 429 });
    const adapter = elevenlabsTranscription({ ...OPTIONS, fetch });
    await expect(adapter.transcribe({ audio }, contextOf())).rejects.toMatchObject({
      reason: 'rate_limited',
      message: expect.stringMatching(/: Resource is used up\.$/),
    });
  });

  it('silence is an empty transcript', async () => {
    const { fetch } = jsonFetch({ language_code: 'en', language_probability: 0, text: '', words: [], transcription_id: 't-1' });
    const adapter = elevenlabsTranscription({ ...OPTIONS, fetch });
    expect(await adapter.transcribe({ audio, timestamps: true }, contextOf())).toMatchObject({ text: '', spans: [], responseId: 't-1' });
  });
});
