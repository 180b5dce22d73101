import type { AdapterEvent, AssistantMessage, AssistantPart, ToolCall } from '@antiphon/engine';

/** A content block as it stands on the wire. */
export type WireBlock = { type: string; name?: string } & Record<string, unknown>;

export function event(value: object): string {
  return `event: ${(value as { type: string }).type}\ndata: ${JSON.stringify(value)}\n\n`;
}

export function start(more: object = {}): object {
  const usage = { input_tokens: 11, output_tokens: 1 };
  return {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm-1', content: [], stop_reason: null, usage, ...more },
  };
}

/** A block with its deltas. */
export function block(index: number, content_block: object, ...deltas: object[]): object[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

export function text(index: number, ...pieces: string[]): object[] {
  return block(index, { type: 'text', text: '' }, ...pieces.map(piece => ({ type: 'text_delta', text: piece })));
}

export function tool(index: number, id: unknown, name: string, ...pieces: string[]): object[] {
  return block(
    index,
    { type: 'tool_use', id, name, input: {} },
    ...pieces.map(partial_json => ({ type: 'input_json_delta', partial_json })),
  );
}

export function end(stop_reason: string, usage: object = { output_tokens: 4 }, more: object = {}): object[] {
  return [{ type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...more }, usage }, { type: 'message_stop' }];
}

export function answer(...events: (object | object[])[]): string {
  return events.flat().map(event).join('');
}

/** The message that the events of an answer tell. */
export function messageOf(events: readonly AdapterEvent[]): AssistantMessage {
  const parts: AssistantPart[] = [];
  for (const item of events) {
    if (item.type === 'text_end' || item.type === 'reasoning_end') {
      const state = item.providerState === undefined ? {} : { providerState: item.providerState };
      parts[item.index] = { type: item.type === 'text_end' ? 'text' : 'reasoning', text: item.text, ...state };
    } else if (item.type === 'tool_call') parts[item.index] = { type: 'tool_call', ...(item.call as ToolCall) };
    else if (item.type === 'source') parts[item.index] = item.source;
    else if (item.type === 'file') parts[item.index] = item.file;
  }
  return { role: 'assistant', content: parts };
}

/**
 * The content of an answer as a plain reader of the protocol puts it together, independently of the adapter. Text without a word in it cannot be
 * sent back, and an empty list of citations is the same as none.
 */
export function blocksOf(body: string): WireBlock[] {
  if (body.startsWith('{')) return JSON.parse(body).content;
  const blocks: WireBlock[] = [];
  const inputs: string[] = [];
  for (const line of body.split('\n')) {
    if (!line.startsWith('data:')) continue;
    const item = JSON.parse(line.slice(5));
    if (item.type === 'content_block_start') blocks[item.index] = { ...item.content_block };
    if (item.type !== 'content_block_delta') continue;
    const { type, ...fields } = item.delta;
    const target = blocks[item.index] as Record<string, unknown>;
    if (type === 'input_json_delta') {
      inputs[item.index] = (inputs[item.index] ?? '') + fields.partial_json;
      if (inputs[item.index] !== '') target.input = undefined;
    } else if (type === 'citations_delta') target.citations = [...((target.citations as unknown[]) ?? []), fields.citation];
    else if (type === 'signature_delta') target.signature = fields.signature;
    else for (const [name, piece] of Object.entries(fields)) target[name] = (target[name] ?? '') + (piece as string);
  }
  return blocks
    .map((content, i) => (inputs[i] ? { ...content, input: JSON.parse(inputs[i]) } : content))
    .map(content => ordered(content))
    .filter(content => content.type !== 'text' || (content.text as string).trim() !== '');
}

/** The fields in the order of the documentation. */
function ordered({ citations, ...content }: WireBlock): WireBlock {
  const cited = Array.isArray(citations) && citations.length > 0 ? { citations } : {};
  return content.type === 'text' ? ({ type: 'text', text: content.text, ...cited } as unknown as WireBlock) : content;
}
