// What of a part must go back untouched. It lives in the part's provider state, under this provider's name: others never see it.
import { isRecord, type Json, type JsonObject, type ProviderState } from '@antiphon/engine';
import { PROVIDER } from './endpoint.js';

export interface PartState {
  /** Goes back on the part that it came with, on no other. */
  readonly thoughtSignature?: string;
  /** The id that the API itself gave to a call. */
  readonly id?: string;
  /** A part that has no neutral form, as it came: code that Google ran, its result, an empty part that only carries a signature. */
  readonly part?: JsonObject;
}

/** Undefined when there is nothing to remember. */
export function stateOf(state: { readonly [K in keyof PartState]?: unknown }): ProviderState | undefined {
  const { thoughtSignature, id, part } = state;
  const kept: Record<string, Json> = {
    ...(typeof thoughtSignature === 'string' && thoughtSignature !== '' ? { thoughtSignature } : {}),
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
    ...(isRecord(part) ? { part: part as JsonObject } : {}),
  };
  return Object.keys(kept).length === 0 ? undefined : { [PROVIDER]: kept };
}

/** The state of any part of a message; pictures and files may carry one too. */
export function stateIn(part: object): PartState {
  const all = (part as { readonly providerState?: unknown }).providerState;
  const own = isRecord(all) && Object.hasOwn(all, PROVIDER) ? all[PROVIDER] : undefined;
  if (!isRecord(own)) return {};
  const { thoughtSignature, id, part: whole } = own;
  return {
    ...(typeof thoughtSignature === 'string' ? { thoughtSignature } : {}),
    ...(typeof id === 'string' ? { id } : {}),
    ...(isRecord(whole) ? { part: whole as JsonObject } : {}),
  };
}
