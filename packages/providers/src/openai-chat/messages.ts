import {
  type AssistantMessage,
  isRecord,
  type Message,
  type ReasoningPart,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
  type UserPart,
  type Warning,
} from '@antiphon/engine';
import { withCallIds } from '../hand-over/call-ids.js';
import { holdsState, leaveCitations, leaveEmpty, leaveMedia, leaveReasoning } from '../hand-over/left-behind.js';
import { parseJson } from '../http/errors.js';
import { warnOnce } from '../http/warnings.js';
import type { WireJson, WireObject } from '../http/wire-values.js';
import { partToWire } from './parts.js';
import type { Profile } from './profiles.js';
import { inRoleOrder, SILENCE } from './role-order.js';

/** The conversation in the dialect's terms, in the same order. What the server cannot take is said in `warnings`. */
export function messagesToWire(messages: readonly Message[], profile: Profile, warnings: Warning[]): WireObject[] {
  const out: WireObject[] = [];
  // Pictures that tools gave: a tool message has text only, and nothing may stand between the answers to one message's calls.
  let pictures: WireJson[] = [];
  for (const message of withCallIds(messages, profile.toolCallIds)) {
    if (message.role !== 'tool' && pictures.length > 0) {
      out.push({ role: 'user', content: pictures });
      pictures = [];
    }
    switch (message.role) {
      case 'system':
        out.push({ role: profile.systemRole, content: message.content });
        break;
      case 'user':
        if (!leaveEmpty(message, warnings)) out.push({ role: 'user', content: userContent(message.content, profile, warnings) });
        break;
      case 'assistant': {
        const wire = assistantToWire(message, profile, warnings);
        if (wire) out.push(wire);
        break;
      }
      case 'tool':
        out.push({ role: 'tool', tool_call_id: message.callId, content: toolContent(message, profile, pictures, warnings) });
        break;
    }
  }
  if (pictures.length > 0) out.push({ role: 'user', content: pictures });
  return inRoleOrder(out, profile, warnings);
}

function userContent(content: string | readonly UserPart[], profile: Profile, warnings: Warning[]): WireJson {
  if (typeof content === 'string') return content;
  const [only] = content;
  // The plainest form: many small servers only know text content.
  if (content.length === 1 && only?.type === 'text' && only.providerOptions === undefined) return only.text;
  const wire = content.map(part => partToWire(part, profile, warnings));
  return profile.contentLists || wire.some(part => part.type !== 'text') ? wire : wire.map(part => part.text).join('\n\n');
}

function assistantToWire(message: AssistantMessage, profile: Profile, warnings: Warning[]): WireObject | undefined {
  if (typeof message.content === 'string')
    return message.content === '' ? dropped(warnings) : { role: 'assistant', content: message.content };
  let text = '';
  let reasoning = '';
  const details: WireJson[] = [];
  let opaque: WireJson;
  const calls: WireObject[] = [];
  for (const part of message.content) {
    switch (part.type) {
      case 'text':
        text += part.text;
        break;
      case 'reasoning': {
        reasoning += part.text;
        const own = part.providerState?.[profile.name];
        opaque = own?.reasoning_opaque ?? opaque;
        if (Array.isArray(own?.reasoning_details)) details.push(...own.reasoning_details);
        else if (own?.reasoning_opaque !== undefined) break;
        else if (isLost(part, profile)) leaveReasoning(part, profile.name, warnings);
        break;
      }
      case 'tool_call':
        calls.push(callToWire(part, profile));
        break;
      case 'image':
      case 'file':
        leaveMedia(part, profile.name, warnings);
        break;
      // Sources are about the answer, not of it.
      case 'source':
        break;
    }
  }
  if (holdsState(message, (provider, state) => isForeign(provider, state, profile))) leaveCitations(message, profile.name, warnings);
  if (text === '' && calls.length === 0) return dropped(warnings);
  return {
    role: 'assistant',
    content: text === '' ? profile.emptyContent : text,
    ...replay(profile, reasoning === '' && calls.length > 0 && profile.wantsReasoning ? SILENCE : reasoning, details, opaque),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** An answer without words and calls (stopped before its first one) has no form in this dialect. */
function dropped(warnings: Warning[]): undefined {
  warnOnce(warnings, 'repaired_history', 'An assistant message without text and tool calls was left out of the request.');
  return undefined;
}

/**
 * Neither its words go back nor what its vendor kept of it. Servers that take no reasoning back lose nothing of their own, which has no state:
 * a warning with each turn would tell nobody anything.
 */
function isLost(part: ReasoningPart, { replayReasoning }: Profile): boolean {
  const takesWords = replayReasoning !== 'none' && replayReasoning !== 'reasoning_opaque';
  return part.providerState !== undefined && !(takesWords && part.text !== '');
}

/** What parts of this dialect's answers remember. */
const STATE = ['reasoning_details', 'reasoning_opaque', 'extra_content'] as const;

/** State of another provider, or of this one's other protocol. */
function isForeign(provider: string, state: object, profile: Profile): boolean {
  return provider !== profile.name || !STATE.some(field => field in state);
}

function replay(profile: Profile, reasoning: string, details: readonly WireJson[], opaque: WireJson): WireObject {
  switch (profile.replayReasoning) {
    case 'none':
      return {};
    case 'reasoning_details':
      return details.length > 0 ? { reasoning_details: details } : reasoning === '' ? {} : { reasoning };
    case 'reasoning_opaque':
      // Its words are nothing without the seal.
      return opaque === undefined ? {} : { ...(reasoning === '' ? {} : { reasoning_text: reasoning }), reasoning_opaque: opaque };
    default:
      return reasoning === '' ? {} : { [profile.replayReasoning]: reasoning };
  }
}

function callToWire(call: ToolCallPart, profile: Profile): WireObject {
  const extra = call.providerState?.[profile.name]?.extra_content;
  return {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argumentText(call) },
    ...(extra === undefined ? {} : { extra_content: extra as WireJson }),
  };
}

/** The model's own text as it was, as long as servers that parse it can. */
export function argumentText(call: ToolCallPart): string {
  return isRecord(parseJson(call.rawArguments)) ? call.rawArguments : JSON.stringify(call.arguments);
}

function toolContent(message: ToolMessage, profile: Profile, pictures: WireJson[], warnings: Warning[]): string {
  if (typeof message.content === 'string') return message.content;
  return message.content.map(part => toolPartText(part, profile, pictures, warnings)).join('\n');
}

function toolPartText(part: ToolResultPart, profile: Profile, pictures: WireJson[], warnings: Warning[]): string {
  const wire = partToWire(part, profile, warnings);
  // What the server does not take at all is a note already.
  if (part.type === 'text' || part.type === 'json' || wire.type === 'text') return String(wire.text);
  const { type, mediaType } = part;
  if (pictures.length === 0) pictures.push({ type: 'text', text: 'What the tools returned beside text:' });
  pictures.push(wire);
  warnOnce(warnings, 'other', `${profile.name} takes no ${type} in tool results; it follows in a user message.`);
  return `[${type} (${mediaType}): see the next user message]`;
}
