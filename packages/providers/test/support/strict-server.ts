// A server on loopback that refuses what the real providers refuse, in their words: OpenAI under /openai/v1, Voyage under /voyage/v1, Cohere
// under /cohere/v2. A token is a word.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export const KEY = 'sk-of-the-strict-server-0001';
/** A real picture of one transparent point. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

type Json = Record<string, unknown>;
interface Reply {
  readonly status?: number;
  readonly body: unknown;
}

export interface StrictServer {
  /** Where a provider's API is: `http://…/openai/v1`. */
  at(place: 'openai/v1' | 'voyage/v1' | 'cohere/v2'): string;
  /** A fetch that finds here what is asked of a provider's own host. */
  as(provider: 'openai' | 'voyage' | 'cohere'): (url: string | URL, init?: RequestInit) => Promise<Response>;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly json?: Json; readonly form?: FormData }[];
  close(): Promise<void>;
}

export async function strictServer(): Promise<StrictServer> {
  const requests: StrictServer['requests'] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const path = (req.url ?? '').split('?')[0] ?? '';
    const type = req.headers['content-type'] ?? '';
    const raw = Buffer.concat(chunks);
    const isForm = type.startsWith('multipart/form-data; boundary=');
    // The platform's own reader of forms is the judge of their shape.
    const form = isForm ? await new Response(new Uint8Array(raw), { headers: { 'content-type': type } }).formData() : undefined;
    const json = type === 'application/json' ? (JSON.parse(raw.toString()) as Json) : undefined;
    requests.push({ path, headers: req.headers, ...(json ? { json } : {}), ...(form ? { form } : {}) });
    const known = req.headers.authorization === `Bearer ${KEY}`;
    const { status = 200, body } = req.method === 'POST' ? answer(path, known, json, form) : { status: 405, body: 'Method Not Allowed' };
    res.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-1' }).end(JSON.stringify(body));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    at: place => `${origin}/${place}`,
    as: provider => (url, init) => fetch(`${origin}/${provider}${new URL(url).pathname}`, init),
    requests,
    close: () => new Promise(resolve => server.close(() => resolve()).closeAllConnections()),
  };
}

function answer(path: string, known: boolean, json: Json | undefined, form: FormData | undefined): Reply {
  const [, provider] = path.split('/');
  if (provider === 'openai' && !known) return openaiError(401, 'Incorrect API key provided.', 'invalid_api_key');
  if (provider === 'voyage' && !known) return { status: 401, body: { detail: 'Provided API key is invalid.' } };
  if (provider === 'cohere' && !known) return { status: 401, body: { message: 'invalid api token' } };
  if (path === '/openai/v1/images/edits') return edit(json, form);
  if (!json) return { status: 415, body: { message: 'Unsupported Media Type' } };
  switch (path) {
    case '/openai/v1/embeddings':
      return openaiEmbeddings(json);
    case '/openai/v1/images/generations':
      return pictures(json, ['model', 'prompt', 'n', 'size', 'quality', 'background', 'output_format', 'moderation', 'output_compression']);
    case '/openai/v1/moderations':
      return moderations(json);
    case '/voyage/v1/embeddings':
      return voyageEmbeddings(json);
    case '/voyage/v1/rerank':
      return rerank(json, 'voyage');
    case '/cohere/v2/rerank':
      return rerank(json, 'cohere');
    default:
      return { status: 404, body: { detail: 'Not Found' } };
  }
}

function openaiError(status: number, message: string, code: string, param: string | null = null): Reply {
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } };
}

function unknownField(json: Json, fields: readonly string[]): Reply | undefined {
  const odd = Object.keys(json).find(field => !fields.includes(field));
  return odd === undefined ? undefined : openaiError(400, `Unknown parameter: '${odd}'.`, 'unknown_parameter', odd);
}

const words = (text: string) => text.split(/\s+/).length;
/** Vectors that tell their text: its length and its number of words. */
const vectorOf = (text: string, width: number) =>
  Array.from({ length: width }, (_, i) => (i === 0 ? text.length : i === 1 ? words(text) : 0.5));
const width = (value: unknown, other: number) => (typeof value === 'number' ? value : other);

function openaiEmbeddings(json: Json): Reply {
  const odd = unknownField(json, ['model', 'input', 'dimensions', 'encoding_format', 'user']);
  if (odd) return odd;
  const { model, input, dimensions, encoding_format: format = 'float' } = json;
  if (model !== 'text-embedding-3-small') {
    return openaiError(404, `The model \`${model}\` does not exist or you do not have access to it.`, 'model_not_found');
  }
  const texts = input as string[];
  if (texts.length > 2048) {
    const message = `Invalid 'input': array too long. Expected an array with maximum length 2048, but got an array with length ${texts.length} instead.`;
    return openaiError(400, message, 'array_above_max_length', 'input');
  }
  const tokens = texts.map(words);
  const longest = Math.max(...tokens);
  if (longest > 8192) {
    const message = `This model's maximum context length is 8192 tokens, however you requested ${longest} tokens (${longest} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`;
    return { status: 400, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } };
  }
  const total = tokens.reduce((sum, count) => sum + count, 0);
  if (total > 300_000) {
    const message = `Requested ${total} tokens, max 300000 tokens per request`;
    return { status: 400, body: { error: { message, type: 'max_tokens_per_request', param: null, code: 'max_tokens_per_request' } } };
  }
  if (width(dimensions, 1) > 1536) return openaiError(400, "Invalid value for 'dimensions'.", 'invalid_value', 'dimensions');
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, width(dimensions, 3));
    const embedding = format === 'base64' ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector;
    return { object: 'embedding', index, embedding };
  });
  // The order is not promised.
  const body = {
    object: 'list',
    data: data.reverse(),
    model: 'text-embedding-3-small',
    usage: { prompt_tokens: total, total_tokens: total },
  };
  return { body };
}

function voyageEmbeddings(json: Json): Reply {
  const { model, input, input_type: type = null, output_dimension: dimension, truncation = true } = json;
  const texts = input as string[];
  const refused = (detail: string): Reply => ({ status: 400, body: { detail } });
  if (model !== 'voyage-3.5') return refused(`Model ${model} is not supported. Supported models are ['voyage-3.5'].`);
  if (texts.length > 1000) return refused('The batch size limit is 1000.');
  if (![null, 'query', 'document'].includes(type as string))
    return refused(`Value '${type}' provided for argument 'input_type' is not supported.`);
  const tokens = texts.map(words);
  const long = tokens.findIndex(count => count > 32_000);
  if (long >= 0 && truncation === false) {
    return refused(
      `The example at index ${long} in your batch has too many tokens and does not fit into the model's context window of 32000 tokens.`,
    );
  }
  const total = tokens.reduce((sum, count) => sum + Math.min(count, 32_000), 0);
  if (total > 320_000) {
    return refused(
      `Request to model '${model}' failed. The max allowed tokens per submitted batch is 320000. Your batch has ${total} tokens after truncation.`,
    );
  }
  const data = texts.map((text, index) => ({ object: 'embedding', embedding: vectorOf(text, width(dimension, 3)), index, text: null }));
  return { body: { object: 'list', data, model, usage: { total_tokens: total } } };
}

function rerank(json: Json, provider: 'voyage' | 'cohere'): Reply {
  const { model, query, documents, top_n, top_k } = json as {
    model: string;
    query: string;
    documents: string[];
    top_n?: number;
    top_k?: number;
  };
  const cohere = provider === 'cohere';
  const fields = [
    'model',
    'query',
    'documents',
    ...(cohere ? ['top_n', 'max_tokens_per_doc'] : ['top_k', 'truncation', 'return_documents']),
  ];
  const odd = Object.keys(json).find(field => !fields.includes(field));
  if (odd)
    return {
      status: cohere ? 422 : 400,
      body: cohere ? { message: `unknown field: ${odd}` } : { detail: `Argument '${odd}' is not supported by our API` },
    };
  if (model !== (cohere ? 'rerank-v3.5' : 'rerank-2.5')) {
    const message = `model '${model}' not found, make sure the correct model ID was used and that you have access to the model.`;
    return cohere ? { status: 404, body: { id: 'e-1', message } } : { status: 400, body: { detail: `Model ${model} is not supported.` } };
  }
  const shared = (document: string) => document.split(' ').filter(word => query.split(' ').includes(word)).length;
  const ranked = documents
    .map((document, index) => ({ index, relevance_score: shared(document) / (1 + query.split(' ').length) }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top_n ?? top_k ?? documents.length);
  if (!cohere) return { body: { object: 'list', data: ranked, model, usage: { total_tokens: words(query) * documents.length } } };
  return { body: { id: 'rr-1', results: ranked, meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } } } };
}

const SIZES = ['1024x1024', '1536x1024', '1024x1536', 'auto'];

function pictures(json: Json, fields: readonly string[], usage = { input_tokens: 9, output_tokens: 272, total_tokens: 281 }): Reply {
  const odd = unknownField(json, fields);
  if (odd) return odd;
  const { model, prompt, size = 'auto', output_format: format = 'png' } = json;
  const n = Number(json.n ?? 1);
  if (model !== 'gpt-image-1.5') return openaiError(404, `The model '${model}' does not exist.`, 'model_not_found', 'model');
  if (!(n >= 1 && n <= 10)) return openaiError(400, "Invalid 'n': expected a value between 1 and 10.", 'integer_above_max_value', 'n');
  if (!SIZES.includes(size as string))
    return openaiError(400, `Invalid value: '${size}'. Supported values are: ${SIZES.join(', ')}.`, 'invalid_value', 'size');
  if (String(prompt).includes('forbidden'))
    return openaiError(400, 'Your request was rejected by the safety system.', 'moderation_blocked');
  const data = Array.from({ length: n }, () => ({ b64_json: format === 'png' ? PNG : format === 'jpeg' ? '/9j/4AAQ' : 'UklGRgAA' }));
  return { body: { created: 1, background: json.background ?? 'opaque', data, output_format: format, quality: 'high', size, usage } };
}

function edit(json: Json | undefined, form: FormData | undefined): Reply {
  const fields = ['model', 'prompt', 'n', 'size', 'quality', 'background', 'output_format', 'input_fidelity'];
  if (json) {
    const { images, mask: _, ...rest } = json as { images?: { image_url?: string }[]; mask?: unknown };
    if (!images?.every(({ image_url: url }) => url?.startsWith('https://') || url?.startsWith('data:image/'))) {
      return openaiError(400, "Missing required parameter: 'images'.", 'missing_required_parameter', 'images');
    }
    return pictures(rest, fields);
  }
  if (!form) return openaiError(400, 'Unsupported content type.', 'unsupported_content_type');
  const files = [...form.getAll('image'), ...form.getAll('image[]')];
  const mask = form.get('mask');
  if (files.length === 0) return openaiError(400, "Missing required parameter: 'image'.", 'missing_required_parameter', 'image');
  if (form.getAll('image').length > 1)
    return openaiError(400, "Duplicate parameter: 'image'. Use 'image[]' for several.", 'duplicate_parameter', 'image');
  if (files.length > 16) return openaiError(400, "Invalid 'image': array too long.", 'array_above_max_length', 'image');
  for (const file of [...files, ...(mask === null ? [] : [mask])]) {
    if (typeof file === 'string' || file.name === '' || !['image/png', 'image/jpeg', 'image/webp'].includes(file.type)) {
      return openaiError(
        400,
        `Invalid file 'image': unsupported mimetype ('${typeof file === 'string' ? 'text' : file.type}').`,
        'unsupported_file_mimetype',
      );
    }
  }
  if (mask !== null && (mask as File).type !== 'image/png') return openaiError(400, 'Invalid mask image format.', 'invalid_image_mask');
  const settings = Object.fromEntries([...form].filter(([name, value]) => typeof value === 'string' && name !== 'mask'));
  return pictures(settings, fields);
}

/** Categories for texts, and one that is judged in pictures too. */
function moderations(json: Json): Reply {
  const { model, input } = json;
  if (model !== 'omni-moderation-latest') return openaiError(404, `The model '${model}' does not exist.`, 'model_not_found');
  const items = input as (string | { type: string; text?: string; image_url?: { url: string } })[];
  const mixed = items.some(item => typeof item !== 'string');
  if (mixed && items.some(item => typeof item === 'string')) return openaiError(400, "Invalid type for 'input'.", 'invalid_type', 'input');
  const verdict = (text: string, types: string[]) => {
    const violent = text.includes('kill');
    return {
      flagged: violent,
      categories: { violence: violent, hate: false, 'hate/threatening': null },
      category_scores: { violence: violent ? 0.9 : 0.001, hate: 0.002, 'hate/threatening': null },
      category_applied_input_types: { violence: types, hate: types.filter(type => type === 'text') },
    };
  };
  const all = items.map(item => (typeof item === 'string' ? item : (item.text ?? item.image_url?.url ?? '')));
  const kinds = items.map(item => (typeof item === 'string' || item.type === 'text' ? 'text' : 'image'));
  const results = mixed ? [verdict(all.join(' '), [...new Set(kinds)])] : all.map(text => verdict(text, ['text']));
  return { body: { id: 'modr-1', model: 'omni-moderation-2024-09-26', results } };
}
