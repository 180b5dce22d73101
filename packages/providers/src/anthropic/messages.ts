import { isRecord, type Message, type ToolMessage, type UserMessage, type Warning } from '@antiphon/engine';
import { userBegins } from '../hand-over/beginning.js';
import { withCallIds } from '../hand-over/call-ids.js';
import { warnOnce } from '../http/warnings.js';
import type { WireObject } from '../http/wire-values.js';

import { PROVIDER } from './endpoint.js';
import { partToWire, textBlocks } from './parts.js';
import { assistantBlocks } from './replay.js';

export interface WireTurn {
  readonly role: 'user' | 'assistant';
  readonly content: WireObject[];
}

/** The conversation as the API wants it. */
export interface WireThread {
  readonly system: WireObject[];
  readonly messages: WireTurn[];
}

/**
 * The conversation in the API's terms: instructions apart; user and assistant in turn, so that neighbours of one role become one message;
 * answers to calls first in the message behind them. What the API cannot take is said in `warnings`.
 */
export function messagesToWire(messages: readonly Message[], warnings: Warning[]): WireThread {
  const system: WireObject[] = [];
  const turns: WireTurn[] = [];
  const say = (role: WireTurn['role'], blocks: readonly WireObject[]) => {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) turns.push({ role, content: [...blocks] });
  };
  // What an answer to a call cannot hold, until all answers have been given.
  let aside: WireObject[] = [];
  let moved = false;
  for (const message of withCallIds(messages, 'word-64')) {
    if (message.role !== 'tool' && aside.length > 0) {
      say('user', aside);
      aside = [];
    }
    switch (message.role) {
      case 'system':
        moved ||= turns.length > 0;
        system.push(...textBlocks(message.content));
        break;
      case 'user':
        say('user', told(userBlocks(message, warnings), 'A user message', warnings));
        break;
      case 'assistant':
        say('assistant', told(assistantBlocks(message, warnings), 'An assistant message', warnings));
        break;
      case 'tool':
        say('user', [toolResultBlock(message, aside, warnings)]);
        break;
    }
  }
  say('user', aside);
  if (moved)
    warnings.push({ code: 'other', message: 'anthropic takes instructions only before the conversation; later ones were moved there.' });
  const answered = settled(turns, warnings);
  if (answered[0]?.role !== 'user') answered.unshift({ role: 'user', content: [{ type: 'text', text: userBegins(PROVIDER, warnings) }] });
  trimEnd(answered);
  return { system, messages: answered };
}

function userBlocks({ content }: UserMessage, warnings: Warning[]): WireObject[] {
  if (typeof content === 'string') return textBlocks(content);
  return content.map(part => partToWire(part, warnings)).filter(block => block !== undefined);
}

function told(blocks: WireObject[], what: string, warnings: Warning[]): WireObject[] {
  if (blocks.length === 0) warnOnce(warnings, 'repaired_history', `${what} without content was left out of the request.`);
  return blocks;
}

function toolResultBlock(message: ToolMessage, aside: WireObject[], warnings: Warning[]): WireObject {
  const block = { type: 'tool_result', tool_use_id: message.callId };
  const content = resultContent(message, aside, warnings);
  // The API refuses a failure without a word, and takes a success without one.
  if (message.isError === true) return { ...block, content: content.length === 0 ? 'The tool failed.' : content, is_error: true };
  return content.length === 0 ? block : { ...block, content };
}

function resultContent({ content, isError }: ToolMessage, aside: WireObject[], warnings: Warning[]): string | WireObject[] {
  if (typeof content === 'string') return content.trim() === '' ? '' : content;
  return content.flatMap(part => {
    const wire = partToWire(part, warnings);
    if (!wire) return [];
    if (isError !== true || wire.type === 'text') return [wire];
    aside.push(wire);
    warnOnce(warnings, 'other', `anthropic takes no ${part.type} in the result of a failed tool; it follows in the user's message.`);
    return [{ type: 'text', text: `[${part.type}: see below]` }];
  });
}

/**
 * A call of a server's tool whose result never came (the answer was stopped) is refused once the user has said something else. While the turn
 * is still open, if over many rounds of calls and results, the server goes on with it.
 */
function dropOrphans(turns: readonly WireTurn[], warnings: Warning[]): WireTurn[] {
  const answered = new Set(turns.flatMap(({ content }) => content.map(block => block.tool_use_id)));
  const closed = lastWord(turns);
  return turns.map((turn, i) => {
    if (turn.role === 'user' || i > closed) return turn;
    const content = turn.content.filter(block => !isServerToolUse(block) || answered.has(block.id));
    if (content.length < turn.content.length) {
      warnings.push({ code: 'repaired_history', message: 'A call of a server tool without a result was left out of the request.' });
    }
    return { ...turn, content };
  });
}

/** Where the user last said something that is no result; -1 for nowhere. What the model did behind it is still going on. */
export function lastWord(turns: readonly WireTurn[]): number {
  return turns.findLastIndex(({ role, content }) => role === 'user' && content.some(({ type }) => type !== 'tool_result'));
}

/** Thinking that nothing came of (the answer was stopped, or refused) cannot stand at the end of an answer. */
function dropLateThoughts(turns: readonly WireTurn[], warnings: Warning[]): WireTurn[] {
  return turns.map(turn => {
    if (turn.role === 'user') return turn;
    const content = turn.content.slice(0, turn.content.findLastIndex(block => !isThought(block)) + 1);
    if (content.length < turn.content.length) {
      warnings.push({ code: 'repaired_history', message: 'Thinking at the end of an answer was left out of the request.' });
    }
    return { ...turn, content };
  });
}

export function isThought(block: WireObject | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking';
}

export function isServerToolUse(block: WireObject): boolean {
  return block.type === 'server_tool_use' || block.type === 'mcp_tool_use';
}

/** Without what the API refuses in earlier answers. What goes may leave something else at an end, or two messages of one role side by side. */
function settled(turns: readonly WireTurn[], warnings: Warning[]): WireTurn[] {
  for (let now = turns; ; ) {
    const told = warnings.length;
    const next = joined(dropLateThoughts(dropOrphans(now, warnings), warnings));
    if (warnings.length === told) return next;
    now = next;
  }
}

/** Without what has become empty. */
function joined(turns: readonly WireTurn[]): WireTurn[] {
  const out: WireTurn[] = [];
  for (const turn of turns) {
    if (turn.content.length === 0) continue;
    const last = out.at(-1);
    if (last?.role === turn.role) last.content.push(...turn.content);
    else out.push({ role: turn.role, content: [...turn.content] });
  }
  return out;
}

/** An answer that is to go on must not end in white space. */
function trimEnd(turns: readonly WireTurn[]): void {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || !isRecord(block) || typeof block.text !== 'string') return;
  last.content[last.content.length - 1] = { ...block, text: block.text.trimEnd() };
}
