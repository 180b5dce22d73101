import type { AssistantMessage, Message, ToolCallPart, ToolMessage, ToolResultPart, UserPart, Warning } from '@antiphon/engine';
import { partToWire } from './parts.js';
import type { Profile } from './profiles.js';
import { toolIdMapper } from './tool-ids.js';
import type { WireJson, WireObject } from './wire.js';

/** The conversation in the dialect's terms, in the same order. What the server cannot take is said in `warnings`. */
export function messagesToWire(messages: readonly Message[], profile: Profile, warnings: Warning[]): WireObject[] {
  const mapId = toolIdMapper(messages, profile.toolCallIds);
  const out: WireObject[] = [];
  // Pictures that tools gave: a tool message has text only, and nothing may stand between the answers to one message's calls.
  let pictures: WireJson[] = [];
  for (const message of messages) {
    if (message.role !== 'tool' && pictures.length > 0) {
      out.push({ role: 'user', content: pictures });
      pictures = [];
    }
    switch (message.role) {
      case 'system':
        out.push({ role: profile.systemRole, content: message.content });
        break;
      case 'user':
        out.push({ role: 'user', content: userContent(message.content, profile, warnings) });
        break;
      case 'assistant': {
        const wire = assistantToWire(message, profile, mapId, warnings);
        if (wire) out.push(wire);
        break;
      }
      case 'tool':
        out.push({ role: 'tool', tool_call_id: mapId(message.callId), content: toolContent(message, profile, pictures, warnings) });
        break;
    }
  }
  if (pictures.length > 0) out.push({ role: 'user', content: pictures });
  return out;
}

function userContent(content: string | readonly UserPart[], profile: Profile, warnings: Warning[]): WireJson {
  if (typeof content === 'string') return content;
  const [only] = content;
  // The plainest form: many small servers only know text content.
  if (content.length === 1 && only?.type === 'text') return only.text;
  return content.map(part => partToWire(part, profile, warnings));
}

function assistantToWire(
  message: AssistantMessage,
  profile: Profile,
  mapId: (id: string) => string,
  warnings: Warning[],
): WireObject | undefined {
  if (typeof message.content === 'string')
    return message.content === '' ? dropped(warnings) : { role: 'assistant', content: message.content };
  let text = '';
  let reasoning = '';
  const details: WireJson[] = [];
  const calls: WireObject[] = [];
  for (const part of message.content) {
    switch (part.type) {
      case 'text':
        text += part.text;
        break;
      case 'reasoning': {
        reasoning += part.text;
        const own = part.providerState?.[profile.name]?.reasoning_details;
        if (Array.isArray(own)) details.push(...own);
        break;
      }
      case 'tool_call':
        calls.push(callToWire(part, profile, mapId));
        break;
      case 'image':
      case 'file':
        warnings.push({
          code: 'other',
          message: `The ${part.type} in an earlier answer cannot be sent back to ${profile.name}; it was left out.`,
        });
        break;
      // Sources are about the answer, not of it.
      case 'source':
        break;
    }
  }
  if (text === '' && calls.length === 0) return dropped(warnings);
  return {
    role: 'assistant',
    content: text === '' ? profile.emptyContent : text,
    ...replay(profile, reasoning, details),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** An answer without words and calls (stopped before its first one) has no form in this dialect. */
function dropped(warnings: Warning[]): undefined {
  warnings.push({ code: 'repaired_history', message: 'An assistant message without text and tool calls was left out of the request.' });
  return undefined;
}

function replay(profile: Profile, reasoning: string, details: readonly WireJson[]): WireObject {
  switch (profile.replayReasoning) {
    case 'none':
      return {};
    case 'reasoning_details':
      return details.length > 0 ? { reasoning_details: details } : reasoning === '' ? {} : { reasoning };
    default:
      return reasoning === '' ? {} : { [profile.replayReasoning]: reasoning };
  }
}

function callToWire(call: ToolCallPart, profile: Profile, mapId: (id: string) => string): WireObject {
  const extra = call.providerState?.[profile.name]?.extra_content;
  return {
    id: mapId(call.id),
    type: 'function',
    function: { name: call.name, arguments: isJsonObject(call.rawArguments) ? call.rawArguments : JSON.stringify(call.arguments) },
    ...(extra === undefined ? {} : { extra_content: extra as WireJson }),
  };
}

/** The model's own text is sent back as it was, as long as servers that parse it can. */
function isJsonObject(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function toolContent(message: ToolMessage, profile: Profile, pictures: WireJson[], warnings: Warning[]): string {
  if (typeof message.content === 'string') return message.content;
  return message.content.map(part => toolPartText(part, message, profile, pictures, warnings)).join('\n');
}

function toolPartText(part: ToolResultPart, message: ToolMessage, profile: Profile, pictures: WireJson[], warnings: Warning[]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'json':
      return JSON.stringify(part.value);
    case 'image':
    case 'file': {
      const whose = `the result of ${message.name ?? message.callId}`;
      if (part.type === 'image' ? !profile.images : !profile.files) {
        warnings.push({
          code: 'other',
          message: `${profile.name} takes no ${part.type} input; the one in ${whose} was replaced by a note.`,
        });
        return `[${part.type} (${part.mediaType}) that cannot be shown]`;
      }
      if (pictures.length === 0) pictures.push({ type: 'text', text: 'What the tools returned beside text:' });
      pictures.push(partToWire(part, profile, warnings));
      warnings.push({
        code: 'other',
        message: `A tool result holds only text at ${profile.name}; the ${part.type} in ${whose} follows in a user message.`,
      });
      return `[${part.type} (${part.mediaType}): see the next user message]`;
    }
  }
}
