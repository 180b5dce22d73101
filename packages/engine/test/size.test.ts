import {
  assistant,
  jsonFault,
  type Message,
  parseToolCall,
  repairMessages,
  toolResult,
  user,
  validate,
  validateMessages,
} from '@antiphon/engine';
import type { ScriptedTurn } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { jsonCopy, plainTool, setUp } from './support.js';

const nested = (depth: number): unknown => {
  let value: unknown = 'core';
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value };
  return value;
};

describe('size', () => {
  /**
   * How many times more of the processor ten times the size takes: about 10 when the work is linear, 100 when it is quadratic. The best of
   * some measurements, since a busy machine can only make one look worse.
   */
  const growth = async (work: (size: number) => unknown, small: number): Promise<number> => {
    const cost = async (size: number) => {
      const before = process.cpuUsage();
      await work(size);
      const { user: own, system } = process.cpuUsage(before);
      return own + system + 1;
    };
    await cost(small);
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 4 && best > 20; i++) best = Math.min(best, (await cost(small * 10)) / (await cost(small)));
    return best;
  };
  const thread = (size: number): Message[] =>
    Array.from({ length: size / 4 }, (_, i): Message[] => [
      user(`Question ${i}`),
      { role: 'assistant', content: [{ type: 'tool_call', id: `c${i}`, name: 'f', arguments: { i }, rawArguments: `{"i":${i}}` }] },
      toolResult(`c${i}`, 'x'),
      assistant('Answer'),
    ]).flat();

  test.each<readonly [string, (size: number) => unknown, number]>([
    ['jsonFault, wide', size => jsonFault(Array.from({ length: size }, () => ({ a: [1] }))), 10_000],
    ['repairMessages', size => repairMessages(thread(size)), 4000],
    ['repairMessages of unanswered calls', size => repairMessages(thread(size).filter(message => message.role !== 'tool')), 4000],
    ['validateMessages', size => validateMessages(thread(size)), 4000],
    ['a long text in many deltas', size => setUp([{ chunks: Array.from({ length: size }, () => 'word ') }]).engine.chat('Hi'), 2000],
    [
      'arguments in many deltas',
      size => setUp([{ toolCalls: [{ name: 'works', arguments: { text: 'x'.repeat(size * 16) } }] }]).engine.generate('Hi'),
      2000,
    ],
    [
      'a message with many calls',
      size =>
        setUp([{ toolCalls: Array.from({ length: size }, () => ({ name: 'works' })) }, 'Fine'], {
          tools: [plainTool('works', () => 1)],
        }).engine.chat('Hi'),
      100,
    ],
    [
      'many turns',
      size =>
        setUp([...Array.from({ length: size }, () => ({ toolCalls: [{ name: 'works' }] })), 'Fine'], {
          tools: [plainTool('works', () => 1)],
        }).engine.chat('Hi', { maxTurns: size + 1 }),
      20,
    ],
    ['a deep chain of JSON text', size => parseToolCall({ id: 'c', name: 'f', raw: '[{"a":'.repeat(size) }), 10_000],
  ])('%s grows with its size, not with its square', async (_, work, small) => {
    expect(await growth(work, small)).toBeLessThan(40);
  });

  test('10,000 messages, 1,000 tools and a result of 50 MB go through', async () => {
    const text = 'x'.repeat(50_000_000);
    const tools = Array.from({ length: 1000 }, (_, i) => plainTool(`tool_${i}`, () => text));
    const turns: ScriptedTurn[] = [...Array.from({ length: 7 }, (_, i) => ({ toolCalls: [{ name: `tool_${i}` }] })), 'Fine'];
    const { chat, engine } = setUp(turns, { tools });
    const outcome = await engine.chat(thread(10_000));
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine' });
    expect(outcome.messages).toHaveLength(10_015);
    expect(chat.requests[0]?.tools).toHaveLength(1000);
    expect(outcome.messages[10_001]?.content.length).toBe(50_000_000);
  });

  test('a JSON Schema check of an argument that is nested too deeply is an answer, not a crash', async () => {
    const raw = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const { engine } = setUp([{ toolCalls: [{ name: 'works', rawArguments: raw }] }, 'Fine'], { tools: [plainTool('works', () => 1)] });
    const outcome = await engine.chat('Hi');
    expect(outcome).toMatchObject({ status: 'completed', text: 'Fine' });
    expect(jsonCopy(outcome.messages)).toStrictEqual(outcome.messages);
    const deep = { type: 'object', properties: { a: { $ref: '#' } } };
    await expect(validate(deep, nested(500))).resolves.toMatchObject({ ok: false });
  });
});
