import { assistant, estimateTokens, type Message, system, toolResult, trimHistory, trimMessages, user } from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { settled, setUp } from './support.js';

const turn = (n: number): Message[] => [
  user(`Question ${n}`),
  assistant([{ type: 'tool_call', id: `c${n}`, name: 'look', arguments: {}, rawArguments: '{}' }]),
  toolResult(`c${n}`, 'found'),
  assistant(`Answer ${n}`),
];

describe('trimMessages', () => {
  const one = (messages: readonly Message[]) => messages.length;

  test.each([
    [13, 13],
    [12, 9],
    [9, 9],
    [8, 5],
    [5, 5],
    // The last turn stays whole.
    [1, 5],
  ])('to %d messages keeps %d', (maxTokens, kept) => {
    const messages = [system('Be brief.'), ...turn(1), ...turn(2), ...turn(3)];
    const trimmed = trimMessages(messages, { maxTokens, count: one });
    expect(trimmed.length).toBe(kept);
    expect(trimmed[0]).toBe(messages[0]);
    expect(trimmed.slice(1)).toEqual(messages.slice(messages.length - kept + 1));
  });

  test('law: the result is well-formed, ends as the list does, and fits unless one turn alone is too large', () => {
    const thread = fc
      .array(fc.nat(3), { maxLength: 12 })
      .map(kinds => kinds.flatMap((kind, n) => (kind === 0 ? [user(`Again ${n}`)] : turn(n))));
    fc.assert(
      fc.property(thread, fc.integer({ min: 1, max: 400 }), (messages, maxTokens) => {
        const trimmed = trimMessages(messages, { maxTokens });
        expect(messages.slice(messages.length - trimmed.length)).toEqual(trimmed);
        const made = trimmed.flatMap(message =>
          message.role === 'assistant' && typeof message.content !== 'string' ? message.content : [],
        );
        const ids = made.flatMap(part => (part.type === 'tool_call' ? [part.id] : []));
        expect(trimmed.flatMap(message => (message.role === 'tool' ? [message.callId] : []))).toEqual(ids);
        const turns = trimmed.filter(message => message.role === 'user').length;
        if (turns > 1) expect(estimateTokens(trimmed)).toBeLessThanOrEqual(maxTokens);
      }),
    );
  });

  test('a list that fits is the same list', () => {
    const messages = turn(1);
    expect(trimMessages(messages, { maxTokens: 1e6 })).toBe(messages);
  });

  test('refuses a size that is none', () => {
    expect(() => trimMessages([], { maxTokens: 0 })).toThrow(RangeError);
  });
});

describe('trimHistory', () => {
  test('leaves old turns out of the request, and keeps the thread', async () => {
    const { engine, clock, chat } = setUp(['Fine.']);
    const messages = [system('S'), ...turn(1), ...turn(2), user('Now?')];
    const outcome = await settled(clock, engine.chat(messages, { prepareStep: trimHistory({ maxTokens: 2, count: list => list.length }) }));
    expect(chat.requests[0]?.messages).toEqual([system('S'), user('Now?')]);
    expect(outcome.messages.length).toBe(messages.length + 1);
  });

  test('puts a summary in their place, asked for once', async () => {
    const asked: number[] = [];
    const prepareStep = trimHistory({
      maxTokens: 2,
      count: list => list.length,
      summarize: old => {
        asked.push(old.length);
        return 'They greeted.';
      },
    });
    const { engine, clock, chat } = setUp(['Fine.', 'Fine.']);
    const messages = [system('S'), ...turn(1), user('Now?')];
    await settled(clock, engine.chat(messages, { prepareStep }));
    await settled(clock, engine.chat(messages, { prepareStep }));
    expect(asked).toEqual([4]);
    expect(chat.requests[1]?.messages).toEqual([
      system('S'),
      user('Summary of the conversation before this point:\nThey greeted.'),
      user('Now?'),
    ]);
  });
});

describe('estimateTokens', () => {
  test.each<[string, Message[], number, number]>([
    ['English', [user('What is the capital of France, and how many people live there?')], 15, 26],
    ['Chinese', [user('今天天气怎么样？')], 8, 16],
    ['nothing', [], 0, 0],
  ])('%s is between %#', (_, messages, low, high) => {
    const tokens = estimateTokens(messages);
    expect(tokens).toBeGreaterThanOrEqual(low);
    expect(tokens).toBeLessThanOrEqual(high);
  });
});
