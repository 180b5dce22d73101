import { isRecord, type JsonObject, type ProviderState } from '@antiphon/engine';

/**
 * What a part of an answer remembers of the item it was read from, so that the item can be sent back as it was. Text, arguments and picture
 * data that stand in the part itself are left empty here and put in again.
 */
export interface ItemState {
  readonly item: JsonObject;
  /** How the part's text divides over the content of a message, in UTF-16 code units. */
  readonly chars?: readonly number[];
  /** Id of the reasoning that the item rests on; without it the item's own id would be refused. */
  readonly after?: string;
  /** The server keeps the item and finds it by its id. */
  readonly stored?: boolean;
  /** Id of the response that the item is from. */
  readonly response?: string;
}

export function stateOf(provider: string, state: ItemState): ProviderState {
  return { [provider]: state as unknown as JsonObject };
}

/** The state of a part, when it came from this provider by this protocol. */
export function ownState(part: { readonly providerState?: ProviderState }, provider: string): ItemState | undefined {
  const states = part.providerState;
  const own = states !== undefined && Object.hasOwn(states, provider) ? states[provider] : undefined;
  return own !== undefined && isRecord(own.item) ? (own as unknown as ItemState) : undefined;
}

/** The content of a message with its texts taken out. */
export function withoutTexts(content: readonly Record<string, unknown>[]): JsonObject[] {
  return content.map(part => {
    const field = textField(part);
    return (field === undefined ? part : { ...part, [field]: '' }) as JsonObject;
  });
}

/** The field of a content part that holds its words. */
export function textField(part: Record<string, unknown>): 'text' | 'refusal' | undefined {
  if (typeof part.text === 'string') return 'text';
  return typeof part.refusal === 'string' ? 'refusal' : undefined;
}
