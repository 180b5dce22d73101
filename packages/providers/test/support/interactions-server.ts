// A server in this process that enforces what the Interactions API enforces.
import { createEngine } from '@antiphon/engine';
import { type GeminiOptions, gemini } from '@antiphon/providers';
import { completed, created, output, wire } from './interactions-wire.js';
import { answering } from './responses-wire.js';

export type Json = Record<string, unknown>;

const FIELDS =
  /^(model|agent|input|stream|store|background|system_instruction|tools|response_format|previous_interaction_id|service_tier|generation_config|cached_content)$/;
const CONFIG = /^(temperature|top_p|seed|stop_sequences|max_output_tokens|thinking_level|thinking_summaries|tool_choice)$/;
const STEPS: ReadonlyMap<unknown, RegExp> = new Map([
  ['user_input', /^content$/],
  ['model_output', /^content$/],
  ['thought', /^(signature|summary)$/],
  ['function_call', /^(id|name|arguments|signature)$/],
  ['function_result', /^(call_id|name|result|is_error)$/],
  ['google_search_call', /^(id|arguments|signature)$/],
  ['google_search_result', /^(call_id|result|signature|is_error)$/],
]);
const CONTENT: ReadonlyMap<unknown, RegExp> = new Map([
  ['text', /^text$/],
  ...['image', 'audio', 'video', 'document'].map(type => [type, /^(data|uri|mime_type)$/] as const),
]);

/** What is wrong with a request, in the words of the API. */
function faultOf(url: URL, headers: Headers, body: Json, known: ReadonlySet<string>): string | undefined {
  if (url.pathname !== '/v1beta/interactions' || url.search !== '') return `no such method: ${url}`;
  if (headers.get('x-goog-api-key') !== 'k-secret') return 'API key not valid. Please pass a valid API key.';
  const config = (body.generation_config ?? {}) as Json;
  const odd = Object.keys(body).find(field => !FIELDS.test(field)) ?? Object.keys(config).find(field => !CONFIG.test(field));
  if (odd) return `Unknown name "${odd}": Cannot find field.`;
  if ((body.model === undefined) === (body.agent === undefined)) return 'either model or agent is required';
  if (body.background === true && body.store !== true) return 'background requires store';
  const tools = (body.tools ?? []) as Json[];
  if (tools.some(({ type }) => typeof type !== 'string')) return 'tool without type';
  if (config.tool_choice !== undefined && !tools.some(({ type }) => type === 'function'))
    return 'Function calling config is set without function_declarations.';
  if (body.previous_interaction_id !== undefined && !known.has(String(body.previous_interaction_id))) return 'Interaction not found.';
  const steps = body.input as Json[];
  if (!Array.isArray(steps) || steps.length === 0) return 'input is required';
  const calls = new Set(body.previous_interaction_id === undefined ? [] : ['c1', 'c2']);
  for (const [i, { type, ...fields }] of steps.entries()) {
    const allowed = STEPS.get(type);
    const unknown = Object.keys(fields).find(field => !allowed?.test(field));
    if (!allowed || unknown) return `input[${i}]: unknown ${type} ${unknown}`;
    if (fields.signature === '') return `input[${i}]: empty signature`;
    if (type === 'thought' && !fields.signature) return `input[${i}]: thought without signature`;
    if (type === 'function_call') calls.add(String(fields.id));
    if (type === 'function_result' && !calls.delete(String(fields.call_id))) return `input[${i}]: no call ${fields.call_id}`;
    const content = type === 'thought' ? fields.summary : type === 'function_result' ? fields.result : fields.content;
    const fault = Array.isArray(content) ? content.map(contentFault).find(Boolean) : undefined;
    if (fault) return `input[${i}]: ${fault}`;
  }
  return calls.size > 0 && body.previous_interaction_id === undefined ? `calls without result: ${[...calls]}` : undefined;
}

function contentFault({ type, ...fields }: Json): string | undefined {
  const unknown = Object.keys(fields).find(field => !CONTENT.get(type)?.test(field));
  if (!CONTENT.has(type) || unknown) return `unknown content ${type} ${unknown}`;
  return type === 'text' && fields.text === '' ? 'empty text parameter' : undefined;
}

/** An adapter before that server, which gives each answer once and then says "ok". */
export function server(...answers: (object | object[])[][]) {
  const bodies: Json[] = [];
  const known = new Set(['v1_a']);
  const fetch: GeminiOptions['fetch'] = async (url, init) => {
    const body = JSON.parse(String(init?.body));
    bodies.push(body);
    const fault = faultOf(new URL(url), new Headers(init?.headers), body, known);
    if (fault !== undefined)
      return new Response(JSON.stringify({ error: { code: 400, message: fault, status: 'INVALID_ARGUMENT' } }), { status: 400 });
    return answering(wire((answers.shift() ?? [created(), output(0, 'ok'), completed()]).flat()))();
  };
  const chat = (model = 'gemini-3-flash-preview') =>
    gemini({ model, api: 'interactions', baseURL: 'http://model.test', apiKey: 'k-secret', fetch });
  return { bodies, chat, engine: (model?: string) => createEngine({ chat: chat(model), retry: false }) };
}
