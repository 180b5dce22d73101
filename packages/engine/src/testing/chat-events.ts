import type { AdapterEvent } from '../events/events.js';
import { expectEqual, expectThat, violation } from './conformance.js';

interface OpenBlock {
  readonly type: 'text' | 'reasoning' | 'tool_call';
  readonly id?: string;
  soFar: string;
}

/**
 * Throws for events that are no well-formed answer: one `message_start` before every block; blocks numbered from 0 as they begin, each with
 * deltas that are not empty and an end that repeats them; tool calls with distinct ids and arguments that are what their text says; one
 * `message_end` behind everything. `cut`: the answer was broken off, so that its end may be missing.
 */
export function checkChatEvents(events: readonly AdapterEvent[], cut = false): void {
  const open = new Map<number, OpenBlock>();
  const ids = new Set<string>();
  let [starts, ends, next] = [0, 0, 0];
  const begin = (index: number, block: OpenBlock): OpenBlock => {
    expectEqual(index, next++, `the index of a new ${block.type} block`);
    const other = [...open.values()].find(({ type }) => type !== 'tool_call');
    expectThat(!other, `a ${block.type} block begins while a ${other?.type} block is open`);
    open.set(index, block);
    return block;
  };
  const end = (index: number, type: OpenBlock['type'], whole: string) => {
    const block = open.get(index);
    expectThat(block?.type === type, `block ${index} ends as ${type}, but is ${block?.type ?? 'not open'}`);
    expectEqual(whole, block?.soFar, `the whole of block ${index}`);
    open.delete(index);
  };
  for (const event of events) {
    if (event.type === 'warning' || event.type === 'raw') continue;
    expectThat(ends === 0, `"${event.type}" comes after message_end`);
    if (event.type === 'message_start') starts++;
    else expectThat(starts === 1, `"${event.type}" comes when ${starts} messages have begun`);
    switch (event.type) {
      case 'text_delta':
      case 'reasoning_delta': {
        const type = event.type === 'text_delta' ? 'text' : 'reasoning';
        const block = open.get(event.index) ?? begin(event.index, { type, soFar: '' });
        expectThat(block.type === type && event.delta !== '', `a ${event.type} is empty or belongs to a block of ${block.type}`);
        block.soFar += event.delta;
        break;
      }
      case 'text_end':
        end(event.index, 'text', event.text);
        break;
      case 'reasoning_end':
        // Redacted thinking has no text, and so no delta before its end.
        if (!open.has(event.index) && event.text === '') begin(event.index, { type: 'reasoning', soFar: '' });
        end(event.index, 'reasoning', event.text);
        break;
      case 'tool_call_start':
        expectThat(event.id !== '' && !ids.has(event.id), `the call id "${event.id}" is empty or came before`);
        ids.add(event.id);
        begin(event.index, { type: 'tool_call', id: event.id, soFar: '' });
        break;
      case 'tool_call_delta': {
        const block = open.get(event.index);
        if (block?.id !== event.id) throw violation(`a piece of arguments belongs to no open call (index ${event.index}, id ${event.id})`);
        block.soFar += event.delta;
        break;
      }
      case 'tool_call': {
        const { call, index } = event;
        expectEqual(call.id, open.get(index)?.id, 'the id of a finished call');
        end(index, 'tool_call', call.rawArguments);
        if (!call.invalid && call.rawArguments.trim().startsWith('{')) {
          expectEqual(call.arguments, JSON.parse(call.rawArguments), 'the arguments of a call');
        }
        break;
      }
      case 'source':
      case 'file':
        expectEqual(event.index, next++, `the index of a ${event.type}`);
        break;
      case 'message_end':
        ends++;
        break;
    }
  }
  if (cut) return;
  expectEqual([starts, ends, open.size], [1, 1, 0], 'the number of message starts, ends and open blocks');
}
