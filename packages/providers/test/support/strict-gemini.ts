// A server on loopback that refuses what Google's Gemini API refuses, in its words and shapes, as far as they are known from what people
// were answered; where they are not, it says "Request contains an invalid argument.", as Google does for much. A token is a word.
import { Buffer } from 'node:buffer';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { EMBED, EMBED_BATCH, GENERATE, type Json, readMessage, type Violation } from './gemini-proto.js';
import { PNG } from './strict-server.js';

export const GEMINI_KEY = 'AIza-of-the-strict-gemini-0001';

interface Reply {
  readonly status?: number;
  readonly body: object;
}
interface Part {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType?: string; readonly data?: string };
  readonly fileData?: { readonly fileUri?: string };
}

export interface StrictGemini {
  readonly baseURL: string;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly json: Json | undefined }[];
  /** After `after` more requests, one finds its quota of the minute (or the day) used up for `retryDelay`, such as `7.5s`. */
  busy(retryDelay: string, options?: { after?: number; quota?: 'PerMinute' | 'PerDay' }): void;
  /** The next request is never answered; resolves with its connection once it is here. */
  silent(): Promise<Socket>;
  close(): Promise<void>;
}

export async function strictGemini(): Promise<StrictGemini> {
  const requests: StrictGemini['requests'] = [];
  let quotas: { left: number; reply: Reply }[] = [];
  let hold: ((socket: Socket) => void) | undefined;
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const url = new URL(req.url ?? '', 'http://here');
    const json = parsed(raw.toString());
    requests.push({ path: url.pathname, headers: req.headers, json: json as Json | undefined });
    if (hold) {
      hold(req.socket);
      hold = undefined;
      return;
    }
    const quota = quotas.find(({ left }) => left === 0);
    quotas = quotas.filter(one => one !== quota);
    for (const one of quotas) one.left--;
    const key = req.headers['x-goog-api-key'] ?? url.searchParams.get('key');
    const place = /^\/v1beta\/(models\/[^/:]+):(\w+)$/.exec(url.pathname);
    if (!place || req.method !== 'POST') {
      res.writeHead(404, { 'content-type': 'text/html; charset=UTF-8' }).end('<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>');
      return;
    }
    const [, model = '', method = ''] = place;
    const { status = 200, body } = keyFault(key) ?? quota?.reply ?? answer(decodeURIComponent(model), method, json, raw.length);
    res.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body, null, 2));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1beta`,
    requests,
    busy: (retryDelay, { after = 0, quota = 'PerMinute' } = {}) => quotas.push({ left: after, reply: exhausted(retryDelay, quota) }),
    silent: () =>
      new Promise(resolve => {
        hold = resolve;
      }),
    close: () => new Promise(resolve => server.close(() => resolve()).closeAllConnections()),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const detail = (name: string, more: object) => ({ '@type': `type.googleapis.com/google.rpc.${name}`, ...more });

function refused(code: number, status: string, message: string, ...details: object[]): Reply {
  return { status: code, body: { error: { code, message, status, ...(details.length > 0 ? { details } : {}) } } };
}

const invalid = (message = 'Request contains an invalid argument.', ...details: object[]) =>
  refused(400, 'INVALID_ARGUMENT', message, ...details);

function keyFault(key: unknown): Reply | undefined {
  if (key === GEMINI_KEY) return undefined;
  if (!key) {
    const words = "Method doesn't allow unregistered callers (callers without established identity).";
    return refused(403, 'PERMISSION_DENIED', `${words} Please use API Key or other form of API consumer identity to call this API.`);
  }
  const message = 'API key not valid. Please pass a valid API key.';
  const metadata = { service: 'generativelanguage.googleapis.com' };
  const info = detail('ErrorInfo', { reason: 'API_KEY_INVALID', domain: 'googleapis.com', metadata });
  return invalid(message, info, detail('LocalizedMessage', { locale: 'en-US', message }));
}

function exhausted(retryDelay: string, quota: string): Reply {
  const metric = 'generativelanguage.googleapis.com/free_tier_requests';
  const plan = 'You exceeded your current quota, please check your plan and billing details.';
  const message = `${plan}\n* Quota exceeded for metric: ${metric}, limit: 100\nPlease retry in ${retryDelay}.`;
  const link = { description: 'Learn more about Gemini API quotas', url: 'https://ai.google.dev/gemini-api/docs/rate-limits' };
  const violation = { quotaMetric: metric, quotaId: `GenerateRequests${quota}PerProjectPerModel-FreeTier`, quotaValue: '100' };
  const details = [detail('Help', { links: [link] }), detail('QuotaFailure', { violations: [violation] })];
  return refused(429, 'RESOURCE_EXHAUSTED', message, ...details, detail('RetryInfo', { retryDelay }));
}

interface Model {
  readonly methods: readonly string[];
  /** Aspect ratios of the pictures it makes. */
  readonly ratios?: readonly string[];
  readonly sizes?: readonly string[];
  readonly pictures?: number;
}
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const embeds = { methods: ['embedContent', 'batchEmbedContents'] };
const generates = { methods: ['generateContent'] };
const MODELS: { readonly [name: string]: Model } = {
  'models/gemini-embedding-001': embeds,
  'models/gemini-embedding-2': embeds,
  'models/gemini-2.5-flash': generates,
  'models/gemini-2.5-flash-image': { ...generates, ratios: RATIOS },
  'models/gemini-3-pro-image-preview': { ...generates, ratios: RATIOS, sizes: ['1K', '2K', '4K'], pictures: 14 },
};
const LIMITS: { readonly [method: string]: number } = {
  embedContent: 4_194_304,
  batchEmbedContents: 4_194_304,
  generateContent: 20_971_520,
};

function answer(name: string, method: string, json: unknown, bytes: number): Reply {
  const limit = LIMITS[method] ?? 0;
  if (bytes > limit) return invalid(`Request payload size exceeds the limit: ${limit} bytes.`);
  if (json === undefined) {
    const description = 'Invalid JSON payload received. Unexpected end of string. Expected a value.';
    return invalid(description, detail('BadRequest', { fieldViolations: [{ description }] }));
  }
  const violations: Violation[] = [];
  const shape = method === 'embedContent' ? EMBED : method === 'batchEmbedContents' ? EMBED_BATCH : GENERATE;
  const body = readMessage(json, shape, '', violations);
  if (violations.length > 0) {
    return invalid(violations.map(({ description }) => description).join('\n'), detail('BadRequest', { fieldViolations: violations }));
  }
  const model = MODELS[name];
  if (!model?.methods.includes(method)) {
    const advice = 'Call ListModels to see the list of available models and their supported methods.';
    return refused(404, 'NOT_FOUND', `${name} is not found for API version v1beta, or is not supported for ${method}. ${advice}`);
  }
  if (method === 'generateContent') return generated(name, model, body);
  if (method === 'embedContent') return embedded(name, [body], ([embedding]) => ({ embedding }));
  const all = (body.requests ?? []) as Json[];
  if (all.length > 100) return invalid('* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch\n');
  const odd = all.findIndex(({ model: own }) => own !== name);
  const named = /^(models|tunedModels)\/./.test(String(all[odd]?.model));
  if (odd >= 0) return invalid(named ? undefined : `* BatchEmbedContentsRequest.requests[${odd}].model: unexpected model name format\n`);
  return embedded(name, all, embeddings => ({ embeddings }));
}

/** The API's full width; its first numbers are the shorter vectors. */
const FULL = 3072;
/** The vector of a text as the API sends it: of length 1 only in full, but for the second generation. */
export function geminiVector(text: string, width = FULL, model = 'gemini-embedding-001'): number[] {
  const seed = [...text].reduce((sum, letter, i) => (sum + letter.charCodeAt(0) * (i + 1)) % 9973, 1);
  const numbers = Array.from({ length: FULL }, (_, i) => Math.sin(seed * (i + 1)));
  const kept = numbers.slice(0, width);
  const measured = model.endsWith('-2') ? kept : numbers;
  const length = Math.hypot(...measured);
  return kept.map(value => value / length);
}

function embedded(name: string, requests: readonly Json[], wrap: (all: object[]) => object): Reply {
  const texts: string[] = [];
  for (const { content, outputDimensionality: width = FULL } of requests) {
    const { parts = [] } = (content ?? {}) as { parts?: Part[] };
    if (parts.length === 0 || parts.some(({ text }) => !text)) return invalid('EmbedContentRequest.content contains an empty Part.');
    if ((width as number) < 1 || (width as number) > FULL) return invalid();
    texts.push(parts.map(({ text }) => text).join(''));
  }
  const width = (i: number) => requests[i]?.outputDimensionality as number | undefined;
  return { body: wrap(texts.map((text, i) => ({ values: geminiVector(text, width(i), name) }))) };
}

const PICTURES = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'];
const SOUNDS = ['audio/wav', 'audio/mp3', 'audio/aiff', 'audio/aac', 'audio/ogg', 'audio/flac'];
const MAGIC: { readonly [type: string]: string } = { 'image/png': 'iVBORw0KGgo', 'image/jpeg': '/9j/', 'image/webp': 'UklGR' };

function generated(name: string, model: Model, body: Json): Reply {
  const contents = (body.contents ?? []) as { role?: string; parts?: Part[] }[];
  const config = (body.generationConfig ?? {}) as Json & { responseModalities?: string[]; maxOutputTokens?: number };
  if (contents.length === 0) return invalid('* GenerateContentRequest.contents: contents is not specified\n');
  for (const [i, { role = 'user', parts = [] }] of contents.entries()) {
    const place = `* GenerateContentRequest.contents[${i}].parts`;
    if (role !== 'user' && role !== 'model') return invalid('Please use a valid role: user, model.');
    if (parts.length === 0) return invalid(`${place}: contents.parts must not be empty.\n`);
    for (const [n, part] of parts.entries()) {
      const fault = partFault(part, `${place}[${n}]`, name, model);
      if (fault !== undefined) return invalid(fault);
    }
  }
  const parts = contents.flatMap(({ parts: own = [] }) => own);
  const pictures = parts.filter(({ inlineData, fileData }) => inlineData ?? fileData).length;
  if (model.pictures !== undefined && pictures > model.pictures)
    return invalid(`Please use fewer than ${model.pictures + 1} images in your request to ${name}`);
  const fault = configFault(name, model, body, config);
  if (fault !== undefined) return invalid(fault);
  const prompt = parts.map(({ text = '' }) => text).join(' ');
  if (prompt.includes('forbidden')) return told(name, prompt, { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } });
  return model.ratios ? painted(name, prompt, config) : heard(name, prompt, parts, config);
}

function partFault({ text, inlineData, fileData }: Part, place: string, name: string, { ratios }: Model): string | undefined {
  if (fileData) return fileData.fileUri?.startsWith('https://') ? undefined : `Invalid or unsupported file uri: ${fileData.fileUri ?? ''}`;
  if (!inlineData) return text ? undefined : `${place}.data: required oneof field 'data' must have one initialized field\n`;
  const { mimeType = '', data = '' } = inlineData;
  if (SOUNDS.includes(mimeType)) return ratios ? `Audio input modality is not enabled for ${name}` : undefined;
  if (!PICTURES.includes(mimeType)) return `Unsupported MIME type: ${mimeType}`;
  const read = data.startsWith(MAGIC[mimeType] ?? '');
  return read
    ? undefined
    : 'Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting';
}

function configFault(name: string, { ratios, sizes = [] }: Model, body: Json, config: Json): string | undefined {
  const { responseModalities: modalities = [], responseMimeType: type = 'text/plain', imageConfig } = config;
  const { aspectRatio, imageSize } = (imageConfig ?? {}) as { aspectRatio?: string; imageSize?: string };
  const asked = (modalities as string[]).map(word => word.toLowerCase()).sort();
  if (asked.includes('audio') || (asked.includes('image') && !ratios))
    return `Model does not support the requested response modalities: ${asked.join(',')}`;
  if (imageConfig !== undefined && !ratios) return 'Aspect ratio is not enabled for this model';
  if (ratios && body.systemInstruction !== undefined) return `Developer instruction is not enabled for ${name}`;
  if (ratios && type !== 'text/plain') return 'JSON mode is not enabled for this model';
  const badType = !['text/plain', 'application/json', 'text/x.enum'].includes(type as string);
  const schemaOfNothing = (config.responseSchema ?? config.responseJsonSchema) !== undefined && type === 'text/plain';
  const badRatio = aspectRatio !== undefined && !ratios?.includes(aspectRatio);
  const badSize = imageSize !== undefined && !sizes.includes(imageSize);
  const temperature = (config.temperature ?? 1) as number;
  const unlikely = temperature < 0 || temperature > 2 || (config.candidateCount ?? 1) !== 1;
  return badType || schemaOfNothing || badRatio || badSize || unlikely ? 'Request contains an invalid argument.' : undefined;
}

function told(name: string, prompt: string, body: Json, tokens = 0): Reply {
  const read = prompt.split(/\s+/).length;
  const counted = tokens > 0 ? { candidatesTokenCount: tokens } : {};
  const usageMetadata = { promptTokenCount: read, ...counted, totalTokenCount: read + tokens };
  return { body: { ...body, usageMetadata, modelVersion: name.replace('models/', ''), responseId: 'r-1' } };
}

function candidate(parts: readonly object[], finishReason: string, more: object = {}): Json {
  const content = parts.length > 0 ? { parts, role: 'model' } : { role: 'model' };
  return { candidates: [{ content, finishReason, index: 0, ...more }] };
}

function painted(name: string, prompt: string, { responseModalities = ['TEXT', 'IMAGE'] }: { responseModalities?: string[] }): Reply {
  if (prompt.includes('indecent')) {
    const finishMessage = 'Unable to show the generated image.';
    return told(name, prompt, candidate([], 'IMAGE_SAFETY', { finishMessage }));
  }
  const words = responseModalities.includes('TEXT') ? [{ text: 'Here it is:' }] : [];
  if (!responseModalities.includes('IMAGE')) return told(name, prompt, candidate(words, 'STOP'), 3);
  return told(name, prompt, candidate([...words, { inlineData: { mimeType: 'image/png', data: PNG } }], 'STOP'), 1290);
}

/** Tells what it heard, so that nothing can get lost unseen; a sound of zeros is silence. */
function heard(
  name: string,
  prompt: string,
  parts: readonly Part[],
  config: { maxOutputTokens?: number; responseMimeType?: unknown },
): Reply {
  const sounds = parts.flatMap(({ inlineData }) => (inlineData ? [inlineData] : []));
  const bytes = sounds.map(({ data = '' }) => Buffer.from(data, 'base64'));
  const spoken = bytes.some(sound => sound.some(byte => byte !== 0));
  const text = spoken ? sounds.map(({ mimeType }, i) => `I heard ${bytes[i]?.length} bytes of ${mimeType}.`).join(' ') : '';
  const words = text === '' ? [] : text.split(' ');
  const most = config.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const kept = words.slice(0, most).join(' ');
  const said = config.responseMimeType === 'application/json' ? JSON.stringify({ text: kept }) : kept;
  return told(name, prompt, candidate(said === '' ? [] : [{ text: said }], words.length > most ? 'MAX_TOKENS' : 'STOP'), words.length);
}
