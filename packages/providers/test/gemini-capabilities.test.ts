// Embeddings, pictures and transcripts: what is sent, what comes of the answer, what is refused.
import { audioPart, createEngine, type EmbeddingRequest, imagePart } from '@antiphon/engine';
import { type GeminiOptions, geminiEmbeddings, geminiImages, geminiTranscription } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { contextOf } from './support/run.js';

interface Sent {
  url: string;
  body: Record<string, never>;
}

/** A server that gives one answer, and what it was asked. */
function server(answer: unknown, status = 200) {
  const sent: Sent[] = [];
  const fetch: GeminiOptions['fetch'] = async (url, init) => {
    sent.push({ url: String(url), body: JSON.parse(String(init?.body)) });
    return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer), { status });
  };
  return { sent, options: { baseURL: 'http://model.test', apiKey: 'k', fetch } };
}

const say = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { parts }, finishReason: 'STOP', ...more }],
  modelVersion: 'm-1',
  responseId: 'r-1',
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
});

describe('geminiEmbeddings', () => {
  const vectors = { embeddings: [{ values: [3, 4] }, { values: [0, 0] }] };

  it.each([
    ['query', 'RETRIEVAL_QUERY'],
    ['document', 'RETRIEVAL_DOCUMENT'],
    ['classification', 'CLASSIFICATION'],
    ['clustering', 'CLUSTERING'],
    ['similarity', 'SEMANTIC_SIMILARITY'],
  ] as const)('task %s', async (task, taskType) => {
    const { sent, options } = server(vectors);
    const answer = await geminiEmbeddings({ model: 'gemini-embedding-001', ...options }).embed({ input: ['a', 'b'], task }, contextOf());
    expect(answer).toMatchObject({ warnings: [], embeddings: [{ index: 0, vector: [3, 4] }, { index: 1 }] });
    const request = (text: string) => ({ model: 'models/gemini-embedding-001', content: { parts: [{ text }] }, taskType });
    expect(sent).toEqual([
      { url: 'http://model.test/v1beta/models/gemini-embedding-001:batchEmbedContents', body: { requests: [request('a'), request('b')] } },
    ]);
  });

  it('shortened vectors get the length 1, full ones stay as they came', async () => {
    const { sent, options } = server(vectors);
    const adapter = geminiEmbeddings({ model: 'gemini-embedding-001', ...options });
    const of = async (request: Partial<EmbeddingRequest>) =>
      (await adapter.embed({ input: ['a', 'b'], ...request }, contextOf())).embeddings.map(({ vector }) => vector);
    expect((await of({ dimensions: 2 })).flat().map(value => Number(value.toFixed(12)))).toEqual([0.6, 0.8, 0, 0]);
    expect(sent[0]!.body).toMatchObject({ requests: [{ outputDimensionality: 2 }, {}] });
    // However it was asked for.
    expect((await of({ providerOptions: { gemini: { outputDimensionality: 2 } } }))[0]![0]).toBeCloseTo(0.6, 12);
    expect(await of({})).toEqual([
      [3, 4],
      [0, 0],
    ]);
    expect(await of({ dimensions: 3072 })).toEqual([
      [3, 4],
      [0, 0],
    ]);
  });

  it('a model without tasks is told of none', async () => {
    const { sent, options } = server(vectors);
    const answer = await geminiEmbeddings({ model: 'gemini-embedding-2', ...options }).embed(
      { input: ['a', 'b'], task: 'query' },
      contextOf(),
    );
    expect(answer.warnings?.map(({ setting }) => setting)).toEqual(['task']);
    expect(JSON.stringify(sent[0]!.body)).not.toContain('taskType');
  });

  it('refuses what it cannot hold, before anything is sent', async () => {
    const { sent, options } = server(vectors);
    const adapter = geminiEmbeddings({ model: 'm', ...options });
    await expect(adapter.embed({ input: ['a'], truncate: false }, contextOf())).rejects.toMatchObject({ reason: 'unsupported' });
    await expect(adapter.embed({ input: Array(101).fill('a') }, contextOf())).rejects.toMatchObject({ reason: 'unsupported' });
    expect(sent).toEqual([]);
  });

  it('an engine sends long lists in batches', async () => {
    const sizes: number[] = [];
    const fetch: GeminiOptions['fetch'] = async (_, init) => {
      const { requests } = JSON.parse(String(init?.body));
      sizes.push(requests.length);
      return new Response(JSON.stringify({ embeddings: requests.map(() => ({ values: [1] })) }));
    };
    const engine = createEngine({ embeddings: geminiEmbeddings({ model: 'm', baseURL: 'http://model.test', fetch }), retry: false });
    expect(await engine.embed(Array(250).fill('a'))).toMatchObject({ status: 'completed', dimensions: 1 });
    expect(sizes).toEqual([100, 100, 50]);
  });

  it.each([{}, { embeddings: {} }, { embeddings: [] }, { embeddings: [{}, null] }, 'no JSON', '', '[]'])(
    'an answer of %j is malformed',
    async answer => {
      const engine = createEngine({ embeddings: geminiEmbeddings({ model: 'm', ...server(answer).options }), retry: false });
      expect(await engine.embed(['a', 'b'])).toMatchObject({ status: 'failed', error: { reason: 'malformed_response' } });
    },
  );
});

describe('geminiImages', () => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
  const draft = { ...picture, thought: true };

  it('makes a picture, of the last draft only', async () => {
    const { sent, options } = server(say([{ text: 'Here:' }, draft, picture]));
    const answer = await geminiImages({ model: 'gemini-2.5-flash-image', ...options }).generateImage({ prompt: 'A cat' }, contextOf());
    expect(answer).toMatchObject({
      images: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }],
      model: 'm-1',
      responseId: 'r-1',
      warnings: [],
    });
    expect(answer.images).toHaveLength(1);
    expect(answer.usage).toEqual({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
    expect(sent[0]).toEqual({
      url: 'http://model.test/v1beta/models/gemini-2.5-flash-image:generateContent',
      body: {
        contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
        generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
      },
    });
  });

  it.each([
    ['gemini-2.5-flash-image', 1024, 1024, { aspectRatio: '1:1' }],
    ['gemini-2.5-flash-image', 1344, 768, { aspectRatio: '16:9' }],
    ['gemini-3-pro-image-preview', 1920, 1080, { aspectRatio: '16:9', imageSize: '1K' }],
    ['gemini-3-pro-image-preview', 2048, 2048, { aspectRatio: '1:1', imageSize: '2K' }],
    ['gemini-3-pro-image-preview', 3072, 4096, { aspectRatio: '3:4', imageSize: '4K' }],
    ['gemini-3.1-flash-image-preview', 512, 2048, { aspectRatio: '1:4', imageSize: '1K' }],
  ])('%s of %i by %i', async (model, width, height, imageConfig) => {
    const { sent, options } = server(say([picture]));
    const answer = await geminiImages({ model, ...options }).generateImage({ prompt: 'A cat', size: { width, height } }, contextOf());
    expect(sent[0]!.body).toMatchObject({ generationConfig: { imageConfig } });
    expect(answer.warnings?.map(({ setting }) => setting)).toEqual(['size']);
  });

  it('what it has no setting for is told; what cannot be is refused', async () => {
    const { sent, options } = server(say([picture]));
    const adapter = geminiImages({ model: 'm', ...options });
    const request = { prompt: 'A cat', quality: 'high', style: 'vivid', background: 'transparent', format: 'webp' } as const;
    const answer = await adapter.generateImage(request, contextOf());
    expect(answer.warnings?.map(({ setting }) => setting)).toEqual(['quality', 'style', 'background', 'format']);
    for (const bad of [{ size: { width: 1000, height: 100 } }, { n: 2 }])
      await expect(adapter.generateImage({ prompt: 'A cat', ...bad }, contextOf())).rejects.toMatchObject({ reason: 'unsupported' });
    expect(sent).toHaveLength(1);
  });

  it('edits pictures, without a mask', async () => {
    const { sent, options } = server(say([picture]));
    const engine = createEngine({ images: geminiImages({ model: 'm', ...options }), retry: false });
    const input = imagePart(Uint8Array.of(1), 'image/jpeg');
    expect(await engine.editImage(input, { prompt: 'Make it night', n: 2 })).toMatchObject({ status: 'completed' });
    expect(sent.map(({ body }) => body.contents)).toEqual(
      Array(2).fill([{ role: 'user', parts: [{ text: 'Make it night' }, { inlineData: { mimeType: 'image/jpeg', data: 'AQ==' } }] }]),
    );
    expect(await engine.editImage(input, { prompt: 'x', mask: input })).toMatchObject({
      status: 'failed',
      error: { reason: 'unsupported' },
    });
  });

  it.each<[string, unknown, string]>([
    ['words only', say([{ text: 'I cannot draw that.' }]), 'malformed_response'],
    ['a blocked prompt', { promptFeedback: { blockReason: 'SAFETY' } }, 'content_filter'],
    ['a blocked picture', { candidates: [{ finishReason: 'IMAGE_SAFETY' }] }, 'content_filter'],
    ['no candidate', { candidates: [] }, 'malformed_response'],
    ['an error in a 200', { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }, 'provider_unavailable'],
  ])('%s', async (_, answer, reason) => {
    const adapter = geminiImages({ model: 'm', ...server(answer).options });
    await expect(adapter.generateImage({ prompt: 'A cat' }, contextOf())).rejects.toMatchObject({ reason });
  });
});

describe('geminiTranscription', () => {
  const audio = audioPart(Uint8Array.of(1, 2), 'audio/mpeg');

  it('writes down a recording', async () => {
    const { sent, options } = server(say([{ text: 'Hm', thought: true }, { text: ' Good evening.\n' }]));
    const request = { audio, language: 'en', prompt: 'Antiphon', providerOptions: { gemini: { generationConfig: { topK: 1 } } } };
    const answer = await geminiTranscription({ model: 'gemini-2.5-flash', ...options }).transcribe(request, contextOf());
    expect(answer).toMatchObject({ text: 'Good evening.', model: 'm-1', warnings: [] });
    expect(sent[0]!.body).toMatchObject({
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'audio/mp3', data: 'AQI=' } }] }],
      generationConfig: { temperature: 0, topK: 1 },
    });
    expect(JSON.stringify(sent[0]!.body)).toMatch(/The language is en\..*Antiphon/);
  });

  it('refuses times, probabilities and unknown sounds before anything is sent', async () => {
    const { sent, options } = server(say([]));
    const adapter = geminiTranscription({ model: 'm', ...options });
    const engine = createEngine({ transcription: adapter, retry: false });
    for (const bad of [{ timestamps: true }, { logprobs: true }, { audio: audioPart(Uint8Array.of(1), 'audio/midi') }]) {
      await expect(adapter.transcribe({ audio, ...bad }, contextOf())).rejects.toMatchObject({ reason: 'unsupported' });
      expect(await engine.transcribe({ audio, ...bad })).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
    }
    const long = audioPart(new Uint8Array(16_000_000), 'audio/wav');
    expect(await engine.transcribe(long)).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
    expect(sent).toEqual([]);
  });

  it.each<[string, unknown, object]>([
    ['silence', say([]), { status: 'completed', text: '' }],
    ['an odd end', say([{ text: 'x' }], { finishReason: 'OTHER' }), { status: 'completed', text: 'x', warnings: [{ code: 'other' }] }],
    ['a cut', say([{ text: 'x' }], { finishReason: 'MAX_TOKENS' }), { status: 'failed', error: { reason: 'truncated' } }],
    ['a block', say([], { finishReason: 'RECITATION' }), { status: 'failed', error: { reason: 'content_filter' } }],
  ])('%s', async (_, answer, expected) => {
    const engine = createEngine({ transcription: geminiTranscription({ model: 'm', ...server(answer).options }), retry: false });
    expect(await engine.transcribe(audio)).toMatchObject(expected);
  });
});
