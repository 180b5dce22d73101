// One question to generateContent and its whole answer, for the capabilities that are prompted chat underneath.

import { type AdapterContext, AdapterError, addUsage, isRecord, type Usage } from '@antiphon/engine';
import { fetchJson, malformedAnswer } from '../http/call.js';
import type { ErrorContext } from '../http/errors.js';
import { ownOptions } from '../http/own-options.js';
import { namesOf } from '../http/usage.js';
import type { WireObject } from '../http/wire-values.js';
import { filled, recordsIn } from '../http/wire-values.js';
import { continuationOf, continued } from './continuation.js';
import { type Endpoint, PROVIDER } from './endpoint.js';
import { blockReason, finishReason } from './finish.js';
import { readUsage } from './usage.js';
import type { WirePart } from './wire.js';

export interface Generated {
  /** Without thoughts. */
  readonly parts: readonly WirePart[];
  /** The API's word for how the answer ended. */
  readonly finish: string;
  /** What it says about that end. */
  readonly why: string;
  readonly about: { readonly usage: Usage; readonly model?: string; readonly responseId?: string };
}

/**
 * Asks and reads, on and on while the server only pauses. Throws `AdapterError`: `content_filter` when the prompt or the answer was blocked,
 * `malformed_response` when it is no answer, and what `fetchJson` throws.
 */
export async function generate(endpoint: Endpoint, model: string, body: WireObject, context: AdapterContext): Promise<Generated> {
  const text = JSON.stringify(body);
  let { next, ...whole } = await ask(endpoint, model, text, context);
  while (next !== undefined) {
    const { next: after, ...more } = await ask(endpoint, model, continued(text, next), context, next);
    const about = { ...whole.about, usage: addUsage(whole.about.usage, more.about.usage) };
    whole = { ...more, parts: [...whole.parts, ...more.parts], about };
    next = after;
  }
  return whole;
}

/** `next`: the token for the piece behind this one, which was asked for with `token`. */
async function ask(
  endpoint: Endpoint,
  model: string,
  body: string,
  context: AdapterContext,
  token?: string,
): Promise<Generated & { readonly next: string | undefined }> {
  const outgoing = await endpoint.outgoing('generateContent', model, body, context);
  const { value } = await fetchJson(outgoing, context);
  if (!isRecord(value)) throw malformedAnswer(outgoing.about, 'sent an answer that is no object');
  const { promptFeedback } = value;
  const block = blockReason(promptFeedback);
  if (block !== undefined) {
    throw blocked(`the prompt (${block})`, isRecord(promptFeedback) ? promptFeedback.blockReasonMessage : undefined, outgoing.about);
  }
  const candidate: unknown = Array.isArray(value.candidates) ? value.candidates[0] : undefined;
  if (!isRecord(candidate)) throw malformedAnswer(outgoing.about, 'sent an answer without a candidate');
  const all = recordsIn(isRecord(candidate.content) ? candidate.content.parts : undefined);
  const parts: WirePart[] = all.filter(({ thought }) => thought !== true);
  const finish = typeof candidate.finishReason === 'string' ? candidate.finishReason : '';
  if (finishReason(finish, false) === 'content_filter') throw blocked(`the answer (${finish})`, candidate.finishMessage, outgoing.about);
  return {
    parts,
    finish,
    next: continuationOf(finish, candidate.continuationToken, token),
    why: typeof candidate.finishMessage === 'string' ? outgoing.about.redact(candidate.finishMessage) : '',
    about: {
      usage: isRecord(value.usageMetadata) ? readUsage(value.usageMetadata) : {},
      ...namesOf({ model: value.modelVersion, id: value.responseId }),
    },
  };
}

/** The text of all parts. */
export function textOf(parts: readonly WirePart[]): string {
  return parts.map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}

/** The caller's own fields of the request; a `generationConfig` is joined with ours. */
export function withOwn(body: WireObject, request: Parameters<typeof ownOptions>[0]): WireObject {
  const own: WireObject = ownOptions(request, PROVIDER);
  return {
    ...body,
    ...own,
    generationConfig: { ...(body.generationConfig as WireObject), ...(own.generationConfig as WireObject | undefined) },
  };
}

function blocked(what: string, why: unknown, { redact }: ErrorContext): AdapterError {
  const said = filled(why) ? `: ${redact(why).slice(0, 500)}` : '.';
  return new AdapterError('content_filter', `${PROVIDER} blocked ${what}${said}`, { provider: PROVIDER });
}
