// What of earlier answers stays behind when a thread goes on with a vendor that it is not from. Each kind is told once in a request.

import { type AssistantMessage, isRecord, type ProviderState, type ReasoningPart, type UserMessage, type Warning } from '@antiphon/engine';
import { warnOnce } from '../http/warnings.js';

/** Warns of a reasoning part that neither goes back as its vendor gave it nor in its words. */
export function leaveReasoning(part: ReasoningPart, target: string, warnings: Warning[]): void {
  const kind = kindOf(part);
  if (kind === 'reasoning') {
    const why = 'it comes from another model, or was cut off';
    warnOnce(warnings, 'other', `Reasoning in an earlier answer cannot be sent to ${target} (${why}); it was left out.`);
  } else if (kind === 'step') {
    warnOnce(warnings, 'other', `A step of a server's own tools in an earlier answer cannot be sent to ${target}; it was left out.`);
  }
}

/** Warns of the sources of an answer from elsewhere; its text goes on without them. Those of the target's own answers it knows, or never takes. */
export function leaveCitations({ content }: AssistantMessage, target: string, warnings: Warning[]): void {
  if (typeof content === 'string' || !content.some(({ type }) => type === 'source')) return;
  warnOnce(warnings, 'other', `Citations in an earlier answer cannot be sent to ${target}; its text goes without them.`);
}

/** Warns of a picture or file that another model made. */
export function leaveMedia({ type }: { readonly type: 'image' | 'file' }, target: string, warnings: Warning[]): void {
  const one = type === 'image' ? 'An image' : 'A file';
  warnOnce(warnings, 'other', `${one} in an earlier answer cannot be sent to ${target}; it was left out.`);
}

/** Some part of the answer holds state that `isForeign`. */
export function holdsState({ content }: AssistantMessage, isForeign: (provider: string, state: object) => boolean): boolean {
  if (typeof content === 'string') return false;
  return content.some(part => Object.entries(stateOf(part)).some(([provider, state]) => isForeign(provider, state)));
}

function stateOf(part: object): ProviderState {
  const { providerState } = part as { readonly providerState?: ProviderState };
  return providerState ?? {};
}

const THOUGHTS: ReadonlySet<unknown> = new Set(['reasoning', 'thinking', 'redacted_thinking', 'thought']);

/**
 * What the part stands for. A part of reasoning may also carry what has no neutral form: a block of Anthropic's, an item of OpenAI's, a step or
 * part of Google's. Undefined when nothing is lost with it.
 */
function kindOf(part: ReasoningPart): 'reasoning' | 'step' | undefined {
  const [state] = Object.values(stateOf(part));
  if (state === undefined) return part.text === '' ? undefined : 'reasoning';
  const whole: unknown = state.block ?? state.item ?? state.step ?? state.part;
  if (!isRecord(whole)) {
    // The account of a message as a whole, which only its own server can use.
    const isAccount = state.message !== undefined && Object.keys(state).length === 1;
    return part.text === '' && isAccount ? undefined : 'reasoning';
  }
  if (whole.type === undefined) return whole.thoughtSignature !== undefined && whole.text !== undefined ? 'reasoning' : 'step';
  // A message without words.
  if (whole.type === 'message') return undefined;
  return THOUGHTS.has(whole.type) ? 'reasoning' : 'step';
}

/** True for a user message without any part, which servers refuse. */
export function leaveEmpty({ content }: UserMessage, warnings: Warning[]): boolean {
  if (content.length > 0 || typeof content === 'string') return false;
  warnOnce(warnings, 'repaired_history', 'A user message without content was left out of the request.');
  return true;
}
