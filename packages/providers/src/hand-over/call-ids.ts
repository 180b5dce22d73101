import type { AssistantMessage, Message } from '@antiphon/engine';
import { shortId } from './short-id.js';

/**
 * Which ids of tool calls a server takes: any, at most 40 characters, at most 64 of letters, digits, `_` and `-`, or exactly 9 letters and
 * digits.
 */
export type CallIdRule = 'any' | 'max-40' | 'word-64' | 'nine-alphanumeric';

const FITS: { readonly [rule in CallIdRule]: (id: string) => boolean } = {
  any: id => id !== '',
  'max-40': id => id !== '' && id.length <= 40,
  'word-64': id => /^[A-Za-z0-9_-]{1,64}$/.test(id),
  'nine-alphanumeric': id => /^[A-Za-z0-9]{9}$/.test(id),
};

/**
 * The conversation with ids of tool calls as a server takes them. A history may come from another provider, whose ids are too long, have other
 * characters, or begin anew with each answer, while some servers want each id once in a request. The first call with an id that fits keeps it;
 * each other one gets a hash of it, the same in each request, and no two become one. A result goes with the nearest call before it.
 */
export function withCallIds(messages: readonly Message[], rule: CallIdRule): readonly Message[] {
  const ids = new CallIds(messages, rule);
  return messages.map(message => {
    if (message.role === 'assistant') return ids.ofCalls(message);
    if (message.role !== 'tool') return message;
    const callId = ids.ofResult(message.callId);
    return callId === message.callId ? message : { ...message, callId };
  });
}

class CallIds {
  readonly #fits: (id: string) => boolean;
  readonly #taken = new Set<string>();
  /** How many calls had this id so far. */
  readonly #seen = new Map<string, number>();
  /** The ids given to the calls of the last message that had this one; the last stays for results that come twice. */
  readonly #open = new Map<string, string[]>();

  constructor(messages: readonly Message[], rule: CallIdRule) {
    this.#fits = FITS[rule];
    for (const message of messages) {
      if (message.role === 'tool') this.#keep(message.callId);
      else if (message.role === 'assistant' && typeof message.content !== 'string')
        for (const part of message.content) if (part.type === 'tool_call') this.#keep(part.id);
    }
  }

  ofCalls(message: AssistantMessage): AssistantMessage {
    const { content } = message;
    if (typeof content === 'string') return message;
    const own = new Map<string, string[]>();
    const renamed = content.map(part => {
      if (part.type !== 'tool_call') return part;
      const id = this.#next(part.id);
      own.set(part.id, [...(own.get(part.id) ?? []), id]);
      return id === part.id ? part : { ...part, id };
    });
    for (const [id, given] of own) this.#open.set(id, given);
    return renamed.every((part, i) => part === content[i]) ? message : { ...message, content: renamed };
  }

  ofResult(id: string): string {
    const open = this.#open.get(id) ?? [this.#next(id)];
    this.#open.set(id, open);
    return (open.length > 1 ? open.shift() : open[0])!;
  }

  #keep(id: string): void {
    if (this.#fits(id)) this.#taken.add(id);
  }

  #next(id: string): string {
    const before = this.#seen.get(id) ?? 0;
    this.#seen.set(id, before + 1);
    if (before === 0 && this.#fits(id)) return id;
    let candidate = shortId(before === 0 ? id : `${before}#${id}`);
    for (let salt = 1; this.#taken.has(candidate); salt++) candidate = shortId(`${salt}:${before}#${id}`);
    this.#taken.add(candidate);
    return candidate;
  }
}
