import { defined } from './defined.js';
import type { AssistantPart, ToolCall, ToolCallPart, ToolResultPart, UserPart } from './parts.js';

/** Instructions; they stay where they stand in the thread. */
export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

/** What the user says or shows. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly UserPart[];
}

/** What the model said: text alone, or its parts in the order in which they began. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string | readonly AssistantPart[];
  /** The reply was cut: it was stopped, or (in a voice conversation) not heard to its end. */
  readonly interrupted?: boolean;
}

/** The one answer to the call `callId`. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly callId: string;
  readonly name?: string;
  readonly content: string | readonly ToolResultPart[];
  /** The tool failed, was denied or never ran; the content tells the model why. */
  readonly isError?: boolean;
}

/** One entry of a conversation. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** A conversation as data. */
export interface Thread {
  readonly messages: readonly Message[];
}

/** Instructions. `system('Answer briefly.')` */
export function system(text: string): SystemMessage {
  return { role: 'system', content: text };
}

/** What the user says. `user('Hello')` or `user([textPart('What is this?'), imagePart(bytes)])` */
export function user(content: string | readonly UserPart[]): UserMessage {
  return { role: 'user', content };
}

/** What the model said. `assistant('Hi!')` */
export function assistant(content: string | readonly AssistantPart[]): AssistantMessage {
  return { role: 'assistant', content };
}

/** The answer to a tool call. `toolResult('call_1', '12 °C')` */
export function toolResult(
  callId: string,
  content: string | readonly ToolResultPart[],
  { name, isError }: { readonly name?: string; readonly isError?: boolean | undefined } = {},
): ToolMessage {
  return { role: 'tool', callId, ...defined({ name }), content, ...defined({ isError }) };
}

/** All text of a message, its other parts left out. `messageText(user('Hi'))` → `'Hi'` */
export function messageText(message: Message): string {
  if (typeof message.content === 'string') return message.content;
  let text = '';
  for (const part of message.content) if (part.type === 'text') text += part.text;
  return text;
}

/** The calls of an assistant message, in the order in which the model made them. `messageToolCalls(message)[0]?.name` */
export function messageToolCalls(message: AssistantMessage): ToolCall[] {
  if (typeof message.content === 'string') return [];
  return message.content.filter((part): part is ToolCallPart => part.type === 'tool_call').map(({ type: _, ...call }) => call);
}
