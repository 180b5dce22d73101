// What of a part must go back untouched. It lives in the part's provider state, under this provider's name: others never see it.
import { isRecord, type Json, type JsonObject, type ProviderState } from '@antiphon/engine';
import { filled } from '../http/wire-values.js';
import { PROVIDER } from './endpoint.js';

export interface PartState {
  /** Goes back on the part that it came with, on no other. */
  readonly thoughtSignature?: string;
  /** The id that the API itself gave to a call. */
  readonly id?: string;
  /** A part that has no neutral form, as it came: code that Google ran, its result, an empty part that only carries a signature. */
  readonly part?: JsonObject;
  /** The same for a step of an interaction. */
  readonly step?: JsonObject;
  /** A thought without a signature: nothing of it goes back, but it is known as Google's own. */
  readonly thought?: true;
  /** Id of the interaction that the part is from; Google only gives one to what it stores. */
  readonly interaction?: string;
}

const TEXTS = ['thoughtSignature', 'id', 'interaction'] as const;
const OBJECTS = ['part', 'step'] as const;

/** Undefined when there is nothing to remember. */
export function stateOf(state: { readonly [K in keyof PartState]?: unknown }): ProviderState | undefined {
  const kept: Record<string, Json> = {};
  for (const field of TEXTS) {
    const value = state[field];
    if (filled(value)) kept[field] = value;
  }
  if (state.thought === true) kept.thought = true;
  for (const field of OBJECTS) if (isRecord(state[field])) kept[field] = state[field] as JsonObject;
  return Object.keys(kept).length === 0 ? undefined : { [PROVIDER]: kept };
}

/** The state of any part of a message; pictures and files may carry one too. */
export function stateIn(part: object): PartState {
  const all = (part as { readonly providerState?: unknown }).providerState;
  const own = isRecord(all) && Object.hasOwn(all, PROVIDER) ? all[PROVIDER] : undefined;
  return (isRecord(own) ? stateOf(own)?.[PROVIDER] : undefined) ?? {};
}
