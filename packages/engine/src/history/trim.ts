import type { PrepareStep } from '../contract.js';
import { type Message, user } from '../data/messages.js';
import { estimateTokens } from './estimate.js';

export interface TrimOptions {
  /** Tokens that the messages may cost. */
  readonly maxTokens: number;
  /** Counts tokens; default `estimateTokens`. */
  readonly count?: (messages: readonly Message[]) => number;
}

/**
 * The newest messages that fit, with the system messages at the beginning. Cuts only in front of a user message, so that no tool call is
 * torn from its result; the last turn stays whole even when it alone is too large. A list that fits is returned as it is.
 *
 * ```ts
 * trimMessages(session.messages, { maxTokens: 8000 });
 * ```
 */
export function trimMessages(messages: readonly Message[], options: TrimOptions): readonly Message[] {
  const { kept } = cut(messages, options);
  return kept;
}

/**
 * Keeps every request of a run below a size. Without `summarize` the oldest turns are left out; with it they are replaced by its text, which
 * is asked for once and then carried along. The thread itself stays whole: only what is sent changes.
 *
 * ```ts
 * await engine.chat(messages, { prepareStep: trimHistory({ maxTokens: 8000, summarize: old => summaryOf(old) }) });
 * ```
 */
export function trimHistory(
  options: TrimOptions & { readonly summarize?: (messages: readonly Message[]) => string | Promise<string> },
): PrepareStep {
  let summary: { readonly of: number; readonly text: string } | undefined;
  return async ({ messages }) => {
    const { kept, dropped } = cut(messages, options);
    if (dropped.length === 0) return undefined;
    if (!options.summarize) return { messages: kept };
    if (summary?.of !== dropped.length) summary = { of: dropped.length, text: await options.summarize(dropped) };
    const head = kept.findIndex(message => message.role !== 'system');
    const note = user(`Summary of the conversation before this point:\n${summary.text}`);
    return { messages: [...kept.slice(0, head), note, ...kept.slice(head)] };
  };
}

function cut(messages: readonly Message[], { maxTokens, count = estimateTokens }: TrimOptions) {
  if (!(maxTokens > 0)) throw new RangeError(`maxTokens must be above 0, not ${maxTokens}.`);
  const whole = { kept: messages, dropped: [] as readonly Message[] };
  if (count(messages) <= maxTokens) return whole;
  const head = Math.max(
    0,
    messages.findIndex(message => message.role !== 'system'),
  );
  const system = messages.slice(0, head);
  const starts = messages.flatMap((message, i) => (i > head && message.role === 'user' ? [i] : []));
  // From the newest turn backwards, counting each turn once.
  let size = count(system);
  let from = messages.length;
  for (const start of [...starts.reverse(), head]) {
    size += count(messages.slice(start, from));
    if (size > maxTokens && from < messages.length) break;
    from = start;
  }
  if (from === head) return whole;
  return { kept: [...system, ...messages.slice(from)], dropped: messages.slice(head, from) };
}
