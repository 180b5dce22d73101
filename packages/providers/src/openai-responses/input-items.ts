import { isRecord, type JsonObject, type Message, type ToolCallPart, type ToolMessage, type Warning } from '@antiphon/engine';
import { withCallIds } from '../hand-over/call-ids.js';
import { leaveEmpty } from '../hand-over/left-behind.js';
import type { WireObject } from '../http/wire-values.js';
import type { Profile } from '../openai-chat/profiles.js';

import { outputContent, userContent } from './input-content.js';
import { ownState } from './item-state.js';
import { answerItems } from './replay.js';

/** What the request is for. */
interface Target {
  /** The model takes reasoning, if only its own. */
  readonly reasons: boolean;
  /** Id of a response that the server remembers: what it already has, up to and with that answer, is not sent again. */
  readonly previous: unknown;
}

/** The conversation as input items, in its order. */
export function inputItems(thread: readonly Message[], profile: Profile, warnings: Warning[], { reasons, previous }: Target): WireObject[] {
  const messages = withCallIds(thread, profile.toolCallIds);
  const calls = callItems(messages, profile.name);
  const items: WireObject[] = [];
  for (const message of messages.slice(rememberedUpTo(messages, profile.name, previous))) {
    switch (message.role) {
      case 'system':
        items.push({ role: profile.systemRole, content: message.content });
        break;
      case 'user':
        if (!leaveEmpty(message, warnings)) items.push({ role: 'user', content: userContent(message.content, profile, warnings) });
        break;
      case 'assistant':
        items.push(...answerItems(message, { provider: profile.name, reasons, warnings }));
        break;
      case 'tool':
        items.push(outputItem(message, calls.get(message.callId) ?? {}, profile, warnings));
        break;
    }
  }
  return items;
}

function outputItem(message: ToolMessage, call: JsonObject, profile: Profile, warnings: Warning[]): WireObject {
  return {
    type: call.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output',
    call_id: message.callId,
    output: outputContent(message.content, profile, warnings),
    // As its call does, it names the program that waits for it.
    ...(isRecord(call.caller) && call.caller.type === 'program' ? { caller: call.caller as WireObject } : {}),
  };
}

/** The items of the calls, by their ids: a result has to be of the kind of its call. */
function callItems(messages: readonly Message[], provider: string): Map<string, JsonObject> {
  const parts = messages.flatMap(message => (message.role === 'assistant' && typeof message.content !== 'string' ? message.content : []));
  const calls = parts.filter((part): part is ToolCallPart => part.type === 'tool_call');
  return new Map(calls.map(part => [part.id, ownState(part, provider)?.item ?? {}]));
}

/** How many messages the server has, when it remembers the response `previous`. None when that answer is not among them. */
function rememberedUpTo(messages: readonly Message[], provider: string, previous: unknown): number {
  if (typeof previous !== 'string') return 0;
  const last = messages.findLastIndex(
    message =>
      message.role === 'assistant' &&
      typeof message.content !== 'string' &&
      message.content.some(part => 'providerState' in part && ownState(part, provider)?.response === previous),
  );
  return last + 1;
}
