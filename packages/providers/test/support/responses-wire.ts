import type { AdapterEvent, AssistantMessage, AssistantPart, ChatAdapter, ChatRequest } from '@antiphon/engine';
import { openaiResponses } from '@antiphon/providers';
import { contextOf, HELLO, type Run, run } from './run.js';

export type Item = Record<string, unknown> & { type: string };

/** Events as the Responses API streams them. */
export function wire(values: readonly object[]): string {
  return values.map(value => `event: ${(value as { type?: string }).type}\ndata: ${JSON.stringify(value)}\n\n`).join('');
}

export const ABOUT = { id: 'resp_1', object: 'response', model: 'm-1', store: false };
export const USAGE = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 3 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 15,
};

export const created = (about: object = {}) => ({
  type: 'response.created',
  response: { ...ABOUT, status: 'in_progress', output: [], ...about },
});
export const completed = (about: object = {}) => ({
  type: 'response.completed',
  response: { ...ABOUT, status: 'completed', output: [], usage: USAGE, ...about },
});
export const incomplete = (reason: string) => ({
  type: 'response.incomplete',
  response: { ...ABOUT, status: 'incomplete', incomplete_details: { reason }, output: [], usage: USAGE },
});
export const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item });
export const done = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item });
export const textDelta = (output_index: number, delta: string, content_index = 0) => ({
  type: 'response.output_text.delta',
  output_index,
  content_index,
  delta,
});
export const summaryDelta = (output_index: number, delta: string, summary_index = 0) => ({
  type: 'response.reasoning_summary_text.delta',
  output_index,
  summary_index,
  delta,
});
export const argsDelta = (output_index: number, delta: string) => ({ type: 'response.function_call_arguments.delta', output_index, delta });

export const messageItem = (text: string, more: object = {}): Item => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
  role: 'assistant',
  ...more,
});
export const reasoningItem = (summary: string[] = [], more: object = {}): Item => ({
  id: 'rs_1',
  type: 'reasoning',
  encrypted_content: 'gAAA==',
  summary: summary.map(text => ({ type: 'summary_text', text })),
  ...more,
});
export const callItem = (name: string, args: string, more: object = {}): Item => ({
  id: 'fc_1',
  type: 'function_call',
  status: 'completed',
  arguments: args,
  call_id: 'call_1',
  name,
  ...more,
});

/** Everything of one message item. */
export const message = (index: number, text: string, more: object = {}) => {
  const item = messageItem(text, more);
  return [added(index, { ...item, status: 'in_progress', content: [] }), textDelta(index, text), done(index, item)];
};
export const call = (index: number, item: Item) => [
  added(index, { ...item, status: 'in_progress', arguments: '' }),
  argsDelta(index, String(item.arguments)),
  done(index, item),
];

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A fetch that answers with these pieces. */
export function answering(pieces: string | readonly Uint8Array[], init: ResponseInit & { type?: string } = {}) {
  const list = typeof pieces === 'string' ? [bytesOf(pieces)] : pieces;
  return async (): Promise<Response> => {
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = list[next++];
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': init.type ?? 'text/event-stream' }, ...init });
  };
}

/** What an answer of these bytes gives. */
export function read(pieces: string | readonly Uint8Array[], request: ChatRequest = HELLO, type?: string): Promise<Run> {
  return run(openaiResponses({ model: 'm', apiKey: 'sk-test', fetch: answering(pieces, type === undefined ? {} : { type }) }), request);
}

/** The events of one answer, each by its own. */
export const readEvents = (values: readonly object[], request?: ChatRequest) => read(wire(values), request);

/** The message that the events tell. */
export function messageOf(events: readonly AdapterEvent[]): AssistantMessage {
  const parts: AssistantPart[] = [];
  for (const event of events) {
    if (event.type === 'text_end' || event.type === 'reasoning_end') {
      const { index, text, providerState } = event;
      parts[index] = { type: event.type === 'text_end' ? 'text' : 'reasoning', text, ...(providerState ? { providerState } : {}) };
    } else if (event.type === 'tool_call') parts[event.index] = { type: 'tool_call', ...event.call };
    else if (event.type === 'source') parts[event.index] = event.source;
    else if (event.type === 'file') parts[event.index] = event.file;
  }
  // As a store would give it back.
  return JSON.parse(JSON.stringify({ role: 'assistant', content: parts }));
}

interface Sent {
  input: Item[];
  [field: string]: unknown;
}

/** The body that a request would have, and what it warns of. */
export async function prepare(request: Partial<ChatRequest>, adapter: ChatAdapter = openaiResponses({ model: 'm', apiKey: 'sk-test' })) {
  const { body, warnings, ...rest } = await adapter.prepare!({ messages: [], ...request }, contextOf());
  return { body: JSON.parse(body) as Sent, text: body, warnings, ...rest };
}
