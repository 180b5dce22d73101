import type { AdapterEvent, ChatRequest, Message } from '@antiphon/engine';
import { shortId } from './short-id.js';

/**
 * Which names of tools a server takes: 1 to 64 letters, digits, `_` and `-` (OpenAI), the same up to 128 (Anthropic), or at most 64 that begin
 * with a letter or `_` and may have dots (Google).
 */
export type ToolNameRule = 'word-64' | 'word-128' | 'letter-first-64';

const FITS: { readonly [rule in ToolNameRule]: RegExp } = {
  'word-64': /^[A-Za-z0-9_-]{1,64}$/,
  'word-128': /^[A-Za-z0-9_-]{1,128}$/,
  'letter-first-64': /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/,
};
/** As long as every server takes. */
const MAX_MENDED = 64;

/** A request with names that the server takes. */
export interface NamedRequest {
  readonly request: ChatRequest;
  /** The caller's own names of the tools that are offered under another one, by the name that is sent. */
  readonly ownNames: ReadonlyMap<string, string>;
}

/**
 * The request with names of tools as a server takes them. Models make names up, and one bad name in the history would make every later request
 * unacceptable; a tool that is offered may have come with a name for another vendor. A name that fits stays. Each other one is mended, the same
 * wherever it stands, and no two become one: a name made up must not turn into that of a tool that exists.
 */
export function withToolNames(request: ChatRequest, rule: ToolNameRule): NamedRequest {
  const { messages, tools, toolChoice } = request;
  // The tools that are offered come first, so that the history does not change how they are called.
  const offered = (tools ?? []).map(tool => tool.name);
  const names = mended([...offered, ...(typeof toolChoice === 'object' ? [toolChoice.tool] : []), ...messages.flatMap(namesIn)], rule);
  if (names.size === 0) return { request, ownNames: names };
  const sent = (name: string) => names.get(name) ?? name;
  return {
    request: {
      ...request,
      messages: messages.map(message => renamed(message, sent)),
      ...(tools === undefined ? {} : { tools: tools.map(tool => ({ ...tool, name: sent(tool.name) })) }),
      ...(typeof toolChoice === 'object' ? { toolChoice: { ...toolChoice, tool: sent(toolChoice.tool) } } : {}),
    },
    ownNames: new Map(offered.filter(name => names.has(name)).map(name => [sent(name), name])),
  };
}

/** The events of an answer with the caller's own names of tools. */
export function withOwnNames(events: AdapterEvent[], ownNames: ReadonlyMap<string, string>): AdapterEvent[] {
  if (ownNames.size === 0) return events;
  return events.map(event => {
    if (event.type === 'tool_call_start') return { ...event, name: ownNames.get(event.name) ?? event.name };
    if (event.type !== 'tool_call') return event;
    return { ...event, call: { ...event.call, name: ownNames.get(event.call.name) ?? event.call.name } };
  });
}

/** New names for those that do not fit. */
function mended(all: readonly string[], rule: ToolNameRule): ReadonlyMap<string, string> {
  const fits = FITS[rule];
  const taken = new Set(all.filter(name => fits.test(name)));
  const names = new Map<string, string>();
  for (const name of all) {
    if (taken.has(name) || names.has(name)) continue;
    const word = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_MENDED) || 'unknown';
    const plain = fits.test(word) ? word : `_${word}`.slice(0, MAX_MENDED);
    let candidate = plain;
    for (let salt = 0; taken.has(candidate); salt++) candidate = `${plain.slice(0, MAX_MENDED - 10)}_${shortId(`${salt}:${name}`)}`;
    taken.add(candidate);
    names.set(name, candidate);
  }
  return names;
}

function namesIn(message: Message): string[] {
  if (message.role === 'tool') return message.name === undefined ? [] : [message.name];
  if (message.role !== 'assistant' || typeof message.content === 'string') return [];
  return message.content.flatMap(part => (part.type === 'tool_call' ? [part.name] : []));
}

function renamed(message: Message, sent: (name: string) => string): Message {
  if (message.role === 'tool') return message.name === undefined ? message : { ...message, name: sent(message.name) };
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  return { ...message, content: message.content.map(part => (part.type === 'tool_call' ? { ...part, name: sent(part.name) } : part)) };
}
