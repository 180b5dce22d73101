import { type AdapterEvent, BlockWriter, foldEvents, parseToolCall, type ToolCall } from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

type Write = (blocks: BlockWriter) => void;

function written(...writes: Write[]): AdapterEvent[] {
  const blocks = new BlockWriter();
  for (const write of writes) write(blocks);
  return blocks.take();
}

const stop: Write = blocks => blocks.end({ finishReason: 'stop', usage: {} });
const cut: Write = blocks => blocks.end({ finishReason: 'length', usage: {} });
const callsOf = (events: readonly AdapterEvent[]): ToolCall[] => events.flatMap(event => (event.type === 'tool_call' ? [event.call] : []));
/** Events in a word each: `text_delta 0 "Hi"`. */
const story = (events: readonly AdapterEvent[]): string[] =>
  events.map(event =>
    [event.type, 'index' in event ? event.index : '', 'delta' in event ? event.delta : 'text' in event ? event.text : '']
      .filter(word => word !== '')
      .join(' '),
  );

describe('parseToolCall', () => {
  test.each<readonly [string, string, Parameters<typeof parseToolCall>[1], object]>([
    ['an object', '{"a":1}', undefined, { arguments: { a: 1 } }],
    ['white space around it', ' \n{"a":1} ', undefined, { arguments: { a: 1 } }],
    ['nothing', '', undefined, { arguments: {} }],
    ['white space only', '  ', undefined, { arguments: {} }],
    ['null', 'null', undefined, { arguments: {} }],
    ['null as text', '"null"', undefined, { arguments: {} }],
    ['empty text', '""', undefined, { arguments: {} }],
    ['null before a cut', 'null', 'length', { arguments: {} }],
    ['nothing before a cut', '', 'length', { invalid: { reason: 'truncated' } }],
    ['half an object before a cut', '{"a":', 'length', { invalid: { reason: 'truncated' } }],
    ['half an object before a filter', '{"a":', 'content_filter', { invalid: { reason: 'truncated' } }],
    ['a whole object before a cut', '{"a":1}', 'length', { arguments: { a: 1 } }],
    ['half an object', '{"a":', 'stop', { invalid: { reason: 'invalid_json' } }],
    ['half an object, tools asked for', '{"a":', 'tool_calls', { invalid: { reason: 'invalid_json' } }],
    ['a list', '[1]', undefined, { invalid: { reason: 'invalid_json', message: expect.stringContaining('an array') } }],
    ['a number', '5', undefined, { invalid: { reason: 'invalid_json', message: expect.stringContaining('number') } }],
    ['text', '"a"', undefined, { invalid: { reason: 'invalid_json', message: expect.stringContaining('string') } }],
    ['an object as text', '"{\\"a\\":1}"', undefined, { arguments: { a: 1 }, rawArguments: '"{\\"a\\":1}"' }],
    ['half an object as text', '"{\\"a\\":"', undefined, { invalid: { reason: 'invalid_json' } }],
    ['two objects', '{}{}', undefined, { invalid: { reason: 'invalid_json' } }],
    ['a member named __proto__', '{"__proto__":{"x":1}}', undefined, { rawArguments: '{"__proto__":{"x":1}}' }],
    [
      '100,000 lists in each other',
      `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      undefined,
      { invalid: { reason: 'invalid_json' } },
    ],
  ])('%s', (_, raw, finishReason, expected) => {
    const call = parseToolCall({ id: 'c', name: 'add', raw }, finishReason);
    expect(call).toMatchObject({ id: 'c', name: 'add', rawArguments: raw, ...expected });
    expect(call.invalid ? call.arguments : {}).toEqual({});
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  test('a call without a name is unknown', () => {
    expect(parseToolCall({ id: 'c', name: '', raw: '{}' })).toMatchObject({ invalid: { reason: 'unknown_tool' } });
  });

  test('law: never throws, and a valid call’s arguments are its text, parsed', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'), (raw, reason) => {
        const call = parseToolCall({ id: 'c', name: 'n', raw }, reason as 'stop');
        if (!call.invalid && Object.keys(call.arguments).length > 0) expect(call.arguments).toEqual(JSON.parse(raw));
      }),
    );
  });
});

describe('blocks', () => {
  test.each<readonly [string, Write[], string[]]>([
    ['an empty answer', [stop], ['message_start', 'message_end']],
    [
      'text',
      [b => b.text('Hel'), b => b.text('lo'), stop],
      ['message_start', 'text_delta 0 Hel', 'text_delta 0 lo', 'text_end 0 Hello', 'message_end'],
    ],
    ['empty deltas', [b => b.text(''), b => b.reasoning(''), stop], ['message_start', 'message_end']],
    [
      'reasoning, then text',
      [b => b.reasoning('Hm.'), b => b.text('Hi'), stop],
      ['message_start', 'reasoning_delta 0 Hm.', 'reasoning_end 0 Hm.', 'text_delta 1 Hi', 'text_end 1 Hi', 'message_end'],
    ],
    [
      'two text blocks',
      [b => b.text('A'), b => b.endBlock(), b => b.text('B'), stop],
      ['message_start', 'text_delta 0 A', 'text_end 0 A', 'text_delta 1 B', 'text_end 1 B', 'message_end'],
    ],
    [
      'a source between texts',
      [b => b.text('A'), b => b.source({ type: 'source', url: 'https://a.example' }), b => b.text('B'), stop],
      ['message_start', 'text_delta 0 A', 'text_end 0 A', 'source 1', 'text_delta 2 B', 'text_end 2 B', 'message_end'],
    ],
    ['redacted reasoning', [b => b.reasoning('', { p: { data: 'x' } }), stop], ['message_start', 'reasoning_end 0', 'message_end']],
    [
      'a call in one piece',
      [b => b.toolCall(0, { id: 'a', name: 'f', args: '{}' }), stop],
      ['message_start', 'tool_call_start 0', 'tool_call_delta 0 {}', 'tool_call 0', 'message_end'],
    ],
    [
      'a name after the arguments',
      [b => b.toolCall(0, { args: '{"a"' }), b => b.toolCall(0, { args: ':1' }), b => b.toolCall(0, { name: 'f', args: '}' }), stop],
      ['message_start', 'tool_call_start 0', 'tool_call_delta 0 {"a":1}', 'tool_call 0', 'message_end'],
    ],
    [
      'two calls interleaved',
      [
        b => b.toolCall(0, { id: 'a', name: 'f', args: '{' }),
        b => b.toolCall(1, { id: 'b', name: 'g', args: '{' }),
        b => b.toolCall(0, { args: '}' }),
        b => b.toolCall(1, { args: '}' }),
        stop,
      ],
      [
        ...['message_start', 'tool_call_start 0', 'tool_call_delta 0 {', 'tool_call_start 1', 'tool_call_delta 1 {'],
        ...['tool_call_delta 0 }', 'tool_call_delta 1 }', 'tool_call 0', 'tool_call 1', 'message_end'],
      ],
    ],
    [
      'text between the pieces of a call',
      [b => b.toolCall(0, { id: 'a', name: 'f', args: '{' }), b => b.text('Hi'), b => b.toolCall(0, { args: '}' }), stop],
      [
        ...['message_start', 'tool_call_start 0', 'tool_call_delta 0 {', 'text_delta 1 Hi'],
        ...['tool_call_delta 0 }', 'text_end 1 Hi', 'tool_call 0', 'message_end'],
      ],
    ],
    ['a second end', [b => b.text('A'), stop, stop], ['message_start', 'text_delta 0 A', 'text_end 0 A', 'message_end']],
    ['a second start', [b => b.start({ model: 'm' }), b => b.start({ model: 'n' }), stop], ['message_start', 'message_end']],
  ])('%s', (_, writes, expected) => {
    expect(story(written(...writes))).toEqual(expected);
  });

  test('the message opens with what start was told', () => {
    expect(written(b => b.start({ model: 'm', responseId: 'r' }))).toEqual([{ type: 'message_start', model: 'm', responseId: 'r' }]);
  });

  test('provider state is merged by provider', () => {
    const events = written(
      b => b.reasoning('a', { p: { x: 1 } }),
      b => b.reasoning('b', { p: { y: 2 }, q: { z: 3 } }),
      b => b.endBlock({ p: { x: 4 } }),
    );
    expect(events.at(-1)).toEqual({ type: 'reasoning_end', index: 0, text: 'ab', providerState: { p: { x: 4, y: 2 }, q: { z: 3 } } });
  });
});

describe('calls', () => {
  const idsOf = (...writes: Write[]) => callsOf(written(...writes, stop)).map(call => call.id);

  test('an id may come late, as long as the name has not come', () => {
    expect(
      idsOf(
        b => b.toolCall(0, { args: '{}' }),
        b => b.toolCall(0, { id: 'late' }),
        b => b.toolCall(0, { name: 'f' }),
      ),
    ).toEqual(['late']);
  });

  test('two calls with one id are told apart', () => {
    const [first, second] = idsOf(
      b => b.toolCall(0, { id: 'a', name: 'f' }),
      b => b.toolCall(1, { id: 'a', name: 'f' }),
    );
    expect(first).toBe('a');
    expect(second).not.toBe('a');
  });

  test('a missing or empty id is made', () => {
    const ids = idsOf(
      b => b.toolCall(0, { name: 'f' }),
      b => b.toolCall(1, { id: '', name: 'f' }),
    );
    expect(ids.every(id => id.length > 5)).toBe(true);
    expect(new Set(ids).size).toBe(2);
  });

  test('all events of a call have the same id', () => {
    const events = written(
      b => b.toolCall(0, { name: 'f', args: '{' }),
      b => b.toolCall(0, { id: 'too late', args: '}' }),
      stop,
    );
    const ids = events.flatMap(event => ('id' in event ? [event.id] : event.type === 'tool_call' ? [event.call.id] : []));
    expect(new Set(ids).size).toBe(1);
    expect(ids).toHaveLength(4);
  });

  test.each([true, false])('a name with another id on the key of a call begins a second call (the first ended: %s)', ended => {
    const events = written(
      b => b.toolCall(0, { id: 'a', name: 'f', args: '{"x":1}' }),
      b => ended && b.endToolCall(0),
      // Its own id or its name once more is nothing new.
      b => b.toolCall(0, { id: 'a', name: 'f' }),
      b => b.toolCall(0, { id: 'b', name: 'f' }),
      b => b.toolCall(0, { args: '{"x":2}' }),
      stop,
    );
    expect(callsOf(events).map(call => [call.id, call.arguments])).toEqual([
      ['a', { x: 1 }],
      ['b', { x: 2 }],
    ]);
    const order = events.flatMap(event => ('index' in event ? event.index : []));
    expect(order).toEqual([...order].sort());
  });

  test('pieces after endToolCall are left out', () => {
    const events = written(
      b => b.toolCall(0, { id: 'a', name: 'f', args: '{}' }),
      b => b.endToolCall(0),
      b => b.toolCall(0, { args: '{}' }),
      b => b.endToolCall(9),
      stop,
    );
    expect(callsOf(events)).toEqual([{ id: 'a', name: 'f', arguments: {}, rawArguments: '{}' }]);
  });

  test('only a call that was cut is truncated', () => {
    const events = written(
      b => b.toolCall(0, { id: 'a', name: 'f', args: '{}' }),
      b => b.toolCall(1, { id: 'b', name: 'f', args: '{"x' }),
      cut,
    );
    expect(callsOf(events).map(call => call.invalid?.reason)).toEqual([undefined, 'truncated']);
  });

  test('a call whose name never came is told and invalid', () => {
    expect(callsOf(written(b => b.toolCall(0, { id: 'a', args: '{}' }), stop))).toMatchObject([
      { id: 'a', invalid: { reason: 'unknown_tool' } },
    ]);
  });
});

test('law: whatever is written, indexes count the parts, deltas joined are the ended text, and take() gives each event once', () => {
  const write: fc.Arbitrary<Write> = fc.oneof(
    fc.string({ maxLength: 4 }).map(text => (b: BlockWriter) => b.text(text)),
    fc.string({ maxLength: 4 }).map(text => (b: BlockWriter) => b.reasoning(text)),
    fc.constant<Write>(b => b.endBlock()),
    fc.constant<Write>(b => b.source({ type: 'source', title: 't' })),
    fc
      .record({
        key: fc.nat(3),
        id: fc.constantFrom('', 'x', 'y'),
        name: fc.constantFrom('', 'f', 'g'),
        args: fc.constantFrom('', '{', '}', '{}'),
      })
      .map(
        ({ key, ...piece }) =>
          (b: BlockWriter) =>
            b.toolCall(key, piece),
      ),
    fc.nat(3).map(key => (b: BlockWriter) => b.endToolCall(key)),
  );
  fc.assert(
    fc.property(fc.array(write), fc.boolean(), (writes, drainOften) => {
      const blocks = new BlockWriter();
      const events: AdapterEvent[] = [];
      for (const one of [...writes, stop]) {
        one(blocks);
        if (drainOften) events.push(...blocks.take());
      }
      events.push(...blocks.take());
      expect(blocks.take()).toEqual([]);
      expect(events[0]?.type).toBe('message_start');
      expect(events.filter(event => event.type === 'message_end')).toHaveLength(1);
      expect(events.at(-1)?.type).toBe('message_end');

      const text = new Map<number, string>();
      const begun: number[] = [];
      for (const event of events) {
        if (!('index' in event)) continue;
        if (!begun.includes(event.index)) begun.push(event.index);
        if ('delta' in event) text.set(event.index, (text.get(event.index) ?? '') + event.delta);
        if ('text' in event) expect(event.text).toBe(text.get(event.index) ?? '');
        if (event.type === 'tool_call') expect(event.call.rawArguments).toBe(text.get(event.index) ?? '');
      }
      expect([...begun].sort((a, b) => a - b)).toEqual(begun.map((_, i) => i));
      const ids = callsOf(events).map(call => call.id);
      expect(new Set(ids).size).toBe(ids.length);

      const outcome = foldEvents([...events, { type: 'end', outcome: { status: 'completed' } as never }]);
      expect(outcome.message === undefined ? 0 : outcome.message.content.length).toBe(begun.length);
    }),
  );
});
