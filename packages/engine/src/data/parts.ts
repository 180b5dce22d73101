import { binaryText } from './bytes.js';
import type { Json, JsonObject } from './json.js';

/**
 * What a provider needs to see again, untouched, when the message is sent back (signatures, encrypted reasoning, item ids), by provider
 * name. Other providers ignore it.
 */
export type ProviderState = { readonly [provider: string]: JsonObject };

/**
 * Fields that one provider knows for a part, in its own words; they are laid over what is sent of it, and other providers ignore them. They count
 * where the user or a tool gives the part.
 *
 * ```ts
 * user([{ ...filePart(pdf, 'application/pdf'), providerOptions: { anthropic: { citations: { enabled: true } } } }, textPart('Who signed it?')]);
 * ```
 */
export type PartOptions = { readonly [provider: string]: JsonObject };

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly providerOptions?: PartOptions;
  readonly providerState?: ProviderState;
}

/** An image as base64 bytes, or as a URL that is handed to the provider as it is (the engine never fetches it). */
export interface ImagePart {
  readonly type: 'image';
  /** MIME type such as `image/png`. */
  readonly mediaType: string;
  readonly data?: string;
  readonly url?: string;
  readonly detail?: 'auto' | 'low' | 'high';
  readonly providerOptions?: PartOptions;
}

export interface AudioPart {
  readonly type: 'audio';
  readonly mediaType: string;
  /** base64 */
  readonly data: string;
  readonly providerOptions?: PartOptions;
}

/** A document (PDF and the like), or a file that the model made. */
export interface FilePart {
  readonly type: 'file';
  readonly mediaType: string;
  /** base64 */
  readonly data?: string;
  readonly url?: string;
  readonly name?: string;
  readonly providerOptions?: PartOptions;
}

/** What the model thought. A redacted block has no text but must be sent back to its provider. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly providerState?: ProviderState;
}

/** A place that the model's answer rests on. */
export interface SourcePart {
  readonly type: 'source';
  readonly id?: string;
  readonly url?: string;
  readonly title?: string;
  readonly quote?: string;
  readonly providerState?: ProviderState;
}

/** Why a call must not be run. The model gets `message` as the call's result. */
export interface InvalidCall {
  readonly reason: 'truncated' | 'invalid_json' | 'invalid_arguments' | 'unknown_tool';
  readonly message: string;
}

/** A tool call of the model. `rawArguments` is its own text; `arguments` is what that text parses to (`{}` when it does not). */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly rawArguments: string;
  readonly invalid?: InvalidCall;
  readonly providerState?: ProviderState;
}

export interface ToolCallPart extends ToolCall {
  readonly type: 'tool_call';
}

/** Any JSON value, as a part of a tool result. */
export interface JsonPart {
  readonly type: 'json';
  readonly value: Json;
}

export type UserPart = TextPart | ImagePart | AudioPart | FilePart;
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | SourcePart | FilePart | ImagePart;
export type ToolResultPart = TextPart | JsonPart | ImagePart | FilePart;

/** A text part. `textPart('hello')` → `{ type: 'text', text: 'hello' }` */
export function textPart(text: string): TextPart {
  return { type: 'text', text };
}

/**
 * An image from bytes, base64 or a `data:` URI, which has its own type. `imagePart(bytes, 'image/png')`; another `{ url: 'https://…' }` is
 * passed on unfetched.
 */
export function imagePart(
  source: Uint8Array | string | { readonly url: string },
  mediaType = 'image/png',
  detail?: ImagePart['detail'],
): ImagePart {
  return { type: 'image', ...content(source, mediaType), ...(detail === undefined ? {} : { detail }) };
}

/** Recorded sound from bytes, base64 or a `data:` URI. `audioPart(bytes, 'audio/wav')` */
export function audioPart(source: Uint8Array | string, mediaType = 'audio/wav'): AudioPart {
  return { type: 'audio', ...inline(source, mediaType) };
}

/** A document from bytes, base64 or a `data:` URI. `filePart(bytes, 'application/pdf', 'report.pdf')` */
export function filePart(source: Uint8Array | string | { readonly url: string }, mediaType: string, name?: string): FilePart {
  return { type: 'file', ...content(source, mediaType), ...(name === undefined ? {} : { name }) };
}

/** A reasoning part, mostly made by providers. `reasoningPart('First, …')` */
export function reasoningPart(text: string, providerState?: ProviderState): ReasoningPart {
  return { type: 'reasoning', text, ...(providerState === undefined ? {} : { providerState }) };
}

interface Inline {
  readonly mediaType: string;
  readonly data: string;
}

function content(source: Uint8Array | string | { readonly url: string }, mediaType: string): Inline | { mediaType: string; url: string } {
  if (typeof source === 'string' || !('url' in source)) return inline(source, mediaType);
  return dataUri(source.url) ?? { mediaType, url: source.url };
}

function inline(source: Uint8Array | string, mediaType: string): Inline {
  return (typeof source === 'string' ? dataUri(source) : undefined) ?? { mediaType, data: base64(source) };
}

/** A `data:` URI in base64 taken apart; undefined for anything else. */
function dataUri(text: string): Inline | undefined {
  const [, mediaType] = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i.exec(text) ?? [];
  return mediaType === undefined ? undefined : { mediaType, data: base64(text.slice(text.indexOf(',') + 1)) };
}

function base64(source: Uint8Array | string): string {
  // By its name, so that bytes of another realm count. Anything else, such as an ArrayBuffer or a Blob, would become an empty part.
  const fits =
    typeof source === 'string' ? /^[A-Za-z0-9+/]*={0,2}$/.test(source) : Object.prototype.toString.call(source) === '[object Uint8Array]';
  if (!fits) throw new TypeError('Expected base64 text or bytes; read the file and pass its Uint8Array.');
  return typeof source === 'string' ? source : btoa(binaryText(source));
}
