// Google's reader of JSON: a body is a message of known fields, in camelCase or snake_case, and everything else is a violation at a place.
import { Buffer } from 'node:buffer';

export type Json = { [key: string]: unknown };
type Scalar = 'string' | 'int' | 'float' | 'bool' | 'bytes' | 'value';
export type Kind = Scalar | { readonly of: string; readonly words: readonly string[] } | { readonly list: Kind } | Message;
/** Field names are camelCase. At most one field of `oneof` may be set. */
export interface Message {
  readonly fields: { readonly [name: string]: Kind };
  readonly oneof?: readonly string[];
}
export interface Violation {
  readonly field?: string;
  readonly description: string;
}

const PACKAGE = 'type.googleapis.com/google.ai.generativelanguage.v1beta';
const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The body as a message with camelCase names; what it may not hold is added to `violations`. */
export function readMessage(value: unknown, { fields, oneof = [] }: Message, path: string, violations: Violation[]): Json {
  const field = path === '' ? {} : { field: path };
  const at = path === '' ? '' : ` at '${path}'`;
  const add = (description: string) => violations.push({ ...field, description });
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    add(`Invalid value${at}, ${JSON.stringify(value)}`);
    return {};
  }
  const out: Json = {};
  for (const [name, inner] of Object.entries(value)) {
    const own = camel(name);
    const kind = Object.hasOwn(fields, own) ? fields[own] : undefined;
    if (kind === undefined) add(`Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`);
    // JSON's null is a field that was not set.
    else if (inner !== null) {
      const taken = oneof.includes(own) && oneof.some(other => other !== own && Object.hasOwn(out, other));
      if (taken) add(`Invalid value${at} (oneof), oneof field 'data' is already set. Cannot set '${own}'`);
      out[own] = readValue(inner, kind, path === '' ? snake(name) : `${path}.${snake(name)}`, violations);
    }
  }
  return out;
}

function readValue(value: unknown, kind: Kind, path: string, violations: Violation[]): unknown {
  if (typeof kind === 'object' && 'fields' in kind) return readMessage(value, kind, path, violations);
  if (typeof kind === 'object' && 'list' in kind) {
    // A lone value passes for a list of one.
    return (Array.isArray(value) ? value : [value]).map((item, i) => readValue(item, kind.list, `${path}[${i}]`, violations));
  }
  const fault =
    typeof kind === 'object' ? (kind.words.includes(value as string) ? undefined : `${PACKAGE}.${kind.of}`) : scalarFault(value, kind);
  if (fault !== undefined) {
    const shown = kind === 'bytes' ? 'Base64 decoding failed' : JSON.stringify(value);
    violations.push({ field: path, description: `Invalid value at '${path}' (${fault}), ${shown}` });
  }
  return value;
}

function scalarFault(value: unknown, kind: Scalar): string | undefined {
  switch (kind) {
    case 'value':
      return undefined;
    case 'string':
      return typeof value === 'string' ? undefined : 'TYPE_STRING';
    case 'bool':
      return typeof value === 'boolean' ? undefined : 'TYPE_BOOL';
    case 'float':
      return Number.isFinite(value) ? undefined : 'TYPE_FLOAT';
    case 'int':
      return Number.isInteger(value) ? undefined : 'TYPE_INT32';
    case 'bytes':
      return typeof value === 'string' && isBase64(value) ? undefined : 'TYPE_BYTES';
  }
}

function isBase64(text: string): boolean {
  const bare = text.replace(/=+$/, '');
  return Buffer.from(bare, 'base64').length === Math.floor((bare.length * 3) / 4) && bare.length % 4 !== 1;
}

const list = (of: Kind): Kind => ({ list: of });
const words = (of: string, ...all: string[]): Kind => ({ of, words: all });
const message = (fields: Message['fields'], oneof?: readonly string[]): Message => ({ fields, ...(oneof ? { oneof } : {}) });

const data = {
  text: 'string',
  inlineData: message({ mimeType: 'string', data: 'bytes' }),
  fileData: message({ mimeType: 'string', fileUri: 'string' }),
  functionCall: 'value',
  functionResponse: 'value',
  executableCode: 'value',
  codeExecutionResult: 'value',
} as const;
const part = message({ ...data, thought: 'bool', thoughtSignature: 'bytes', videoMetadata: 'value' }, Object.keys(data));
const content = message({ role: 'string', parts: list(part) });

const TASKS =
  'RETRIEVAL_QUERY RETRIEVAL_DOCUMENT SEMANTIC_SIMILARITY CLASSIFICATION CLUSTERING QUESTION_ANSWERING FACT_VERIFICATION CODE_RETRIEVAL_QUERY';
export const EMBED = message({
  model: 'string',
  content,
  taskType: words('TaskType', 'TASK_TYPE_UNSPECIFIED', ...TASKS.split(' ')),
  title: 'string',
  outputDimensionality: 'int',
});
export const EMBED_BATCH = message({ requests: list(EMBED) });

export const GENERATE = message({
  model: 'string',
  contents: list(content),
  systemInstruction: content,
  tools: list('value'),
  toolConfig: 'value',
  safetySettings: list(message({ category: 'string', threshold: 'string' })),
  cachedContent: 'string',
  labels: 'value',
  store: 'bool',
  serviceTier: 'string',
  generationConfig: message({
    stopSequences: list('string'),
    responseMimeType: 'string',
    responseSchema: 'value',
    responseJsonSchema: 'value',
    responseModalities: list(words('GenerationConfig.Modality', 'MODALITY_UNSPECIFIED', 'TEXT', 'IMAGE', 'AUDIO')),
    candidateCount: 'int',
    maxOutputTokens: 'int',
    temperature: 'float',
    topP: 'float',
    topK: 'int',
    seed: 'int',
    presencePenalty: 'float',
    frequencyPenalty: 'float',
    responseLogprobs: 'bool',
    logprobs: 'int',
    speechConfig: 'value',
    thinkingConfig: 'value',
    imageConfig: message({ aspectRatio: 'string', imageSize: 'string' }),
    mediaResolution: 'string',
  }),
});
