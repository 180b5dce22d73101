import {
  AdapterError,
  AntiphonError,
  addUsage,
  assistant,
  describe as describeThrown,
  type ErrorReason,
  encodeFailure,
  encodeResult,
  type Failed,
  imagePart,
  messageText,
  textPart,
  toolResult,
  unwrap,
} from '@antiphon/engine';
import { virtualClock } from '@antiphon/engine/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { jsonCopy } from './support.js';

describe('small functions', () => {
  test.each<readonly [unknown, string]>([
    [new Error('gone'), 'gone'],
    [new TypeError(''), 'TypeError'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [5n, '5'],
    [Symbol('s'), 'Symbol(s)'],
    [{ a: 1 }, '{"a":1}'],
    [
      Object.assign(Object.create(null), {
        toJSON: () => {
          throw new Error('x');
        },
      }),
      'a thrown object that cannot be shown',
    ],
  ])('describe: case %#', (thrown, text) => {
    expect(describeThrown(thrown)).toBe(text);
  });

  test('errors are one family, and their data holds no cause', () => {
    const error = new AdapterError('timeout', 'Too slow.', { cause: new Error('secret'), status: 408, retryable: true });
    expect(AntiphonError.isInstance(error) && error instanceof Error).toBe(true);
    expect([null, undefined, 5, {}, new Error('x')].some(AntiphonError.isInstance)).toBe(false);
    expect(jsonCopy(error)).toEqual({ name: 'AdapterError', reason: 'timeout', message: 'Too slow.', retryable: true, status: 408 });
  });

  test('usage: what nobody reports stays missing, a reported zero stays', () => {
    expect(addUsage({ inputTokens: 1 }, { inputTokens: 2, outputTokens: 0 })).toEqual({ inputTokens: 3, outputTokens: 0 });
    expect(addUsage({}, {})).toEqual({});
  });

  test('encoding: text stays text, images stay parts, everything else is JSON', () => {
    const image = imagePart(new Uint8Array([1, 2, 3]));
    expect(image).toEqual({ type: 'image', mediaType: 'image/png', data: 'AQID' });
    expect(encodeResult('')).toBe('');
    expect(encodeResult(image)).toEqual([image]);
    expect(encodeResult([textPart('See:'), image])).toEqual([textPart('See:'), image]);
    expect(encodeResult([1, image])).toBe(JSON.stringify([1, image]));
    for (const data of [{ type: 'file', mediaType: 'text/plain', size: 3 }, [{ type: 'image', mediaType: 'image/png', path: 'a.png' }]])
      expect(encodeResult(data)).toBe(JSON.stringify(data));
    expect(encodeResult(null)).toBe('null');
    expect(encodeFailure(new Error('gone'))).toBe('gone');
  });

  test('unwrap gives the text or the output, or throws', () => {
    const base = { text: 'Hi', reason: 'aborted', pending: {}, error: new AdapterError('timeout', 'Too slow.') };
    expect(unwrap({ ...base, status: 'completed' } as never)).toBe('Hi');
    expect(unwrap({ ...base, status: 'completed', output: { a: 1 } } as never)).toEqual({ a: 1 });
    expect(() => unwrap({ ...base, status: 'failed' } as never)).toThrow('Too slow.');
    expect(() => unwrap({ ...base, status: 'interrupted' } as never)).toThrow(/aborted/);
    expect(() => unwrap({ ...base, status: 'interrupted', reason: { halt: 'done' } } as never)).toThrow(/halt: done/);
  });

  test('the reason of an error is from a closed list, for the compiler too', () => {
    expectTypeOf<Failed['error']['reason']>().toEqualTypeOf<ErrorReason>();
    // @ts-expect-error A word that is misspelt.
    expect(new AdapterError('timeout', 'Too slow.').reason === 'time_out').toBe(false);
  });

  test('messages read back', () => {
    expect(messageText(assistant([textPart('a'), { type: 'reasoning', text: 'x' }, textPart('b')]))).toBe('ab');
    expect(toolResult('c', 'x')).toEqual({ role: 'tool', callId: 'c', content: 'x' });
  });

  test('the virtual clock fires timers in order, at their exact times', async () => {
    const clock = virtualClock();
    const fired: number[] = [];
    for (const ms of [30, 10, 20, 10]) clock.setTimer(ms, () => fired.push(clock.now()));
    clock.setTimer(15, () => fired.push(-1))();
    await clock.advance(20);
    expect([fired, clock.now(), clock.pending]).toEqual([[10, 10, 20], 20, 1]);
    expect(await clock.runAll()).toBe(10);
  });
});
