import {
  assistant,
  audioPart,
  type FilePart,
  filePart,
  type ImagePart,
  imagePart,
  type Message,
  textPart,
  toolResult,
  user,
} from '@antiphon/engine';
import { describe, expect, test } from 'vitest';
import { call, NAMES, TARGETS, type TargetName } from './support/hand-over.js';

// What of a thread has another form at each provider: the ids of calls, pictures, sound and files, and the results of tools.

describe('ids of calls', () => {
  const LONG = 'x'.repeat(450);
  const ODD = ['functions.look:0', 'functions_look_0', 'call_a|fc_b', 'call_a_fc_b', LONG, `${LONG}y`, 'toolu_01ABC', 'a1a1a1a1a', ''];
  /** All at once, and two of them again in a later turn, as servers do that count anew in each answer. */
  const turn = (ids: readonly string[], seen: string) => [
    assistant(ids.map(id => call(id))),
    ...ids.map((id, i) => toolResult(id, `${seen}${i}`)),
  ];
  const thread = [user('Look.'), ...turn(ODD, 'first '), ...turn(['functions.look:0', 'toolu_01ABC'], 'second '), user('And?')];
  const count = ODD.length + 2;

  const RULES: Partial<Record<TargetName, RegExp>> = {
    'openai chat': /^.{1,40}$/,
    mistral: /^[A-Za-z0-9]{9}$/,
    deepseek: /^.+$/,
    responses: /^.{1,64}$/,
    anthropic: /^[A-Za-z0-9_-]{1,64}$/,
    interactions: /^.+$/,
  };

  /** Every value of these keys, anywhere in a body, in order. */
  function valuesOf(value: unknown, keys: readonly string[]): string[] {
    if (Array.isArray(value)) return value.flatMap(item => valuesOf(item, keys));
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, item]) => (keys.includes(key) && typeof item === 'string' ? [item] : valuesOf(item, keys)));
  }

  test.each(Object.entries(RULES) as [TargetName, RegExp][])(
    'are allowed at %s, distinct, and those of their results',
    async (target, rule) => {
      const { body, warnings } = await TARGETS[target](thread);
      const value = JSON.parse(body) as unknown;
      const ids = valuesOf(value, ['id', 'call_id', 'tool_call_id', 'tool_use_id']);
      expect(ids.length).toBe(2 * count);
      const [firstCalls, firstResults] = [ids.slice(0, ODD.length), ids.slice(ODD.length, 2 * ODD.length)];
      const [laterCalls, laterResults] = [ids.slice(2 * ODD.length, -2), ids.slice(-2)];
      expect([firstResults, laterResults]).toEqual([firstCalls, laterCalls]);
      expect(new Set(ids).size).toBe(count);
      for (const id of ids) expect(id).toMatch(rule);
      for (const [i, id] of ODD.entries()) if (rule.test(id)) expect(firstCalls[i]).toBe(id);
      expect(warnings).toEqual([]);
      // The same again: what a provider has cached stays valid.
      expect((await TARGETS[target](thread)).body).toBe(body);
    },
  );

  test.each(['gemini', 'gemini 3'] as const)('%s gets none but its own, and finds results by their order', async target => {
    const { body } = await TARGETS[target](thread);
    expect(valuesOf(JSON.parse(body), ['id'])).toEqual([]);
    expect(valuesOf(JSON.parse(body), ['output'])).toEqual([...ODD.map((_, i) => `first ${i}`), 'second 0', 'second 1']);
  });

  test('each call of a later turn has its own result in a local history', async () => {
    const { body } = await TARGETS.llamaCpp(thread);
    expect(valuesOf(JSON.parse(body), ['result'])).toEqual([...ODD.map((_, i) => `first ${i}`), 'second 0', 'second 1']);
  });
});

describe('pictures, sound and files', () => {
  const PNG = (byte: number): ImagePart => imagePart(new Uint8Array([137, 80, 78, 71, byte]));
  const PDF: FilePart = filePart(new Uint8Array([37, 80, 68, 70]), 'application/pdf', 'a.pdf');
  const toolGives = (part: ImagePart | FilePart, isError = false) => [
    user('Look.'),
    assistant([call('toolu_1'), call('toolu_2')]),
    toolResult('toolu_1', [textPart('seen'), part], { name: 'look', isError }),
    toolResult('toolu_2', [part], { name: 'look', isError }),
    user('And?'),
  ];
  // [what, thread, base64 that must arrive wherever nothing is said to be replaced or left out, targets that warn, the words of it]
  const cases: readonly (readonly [string, readonly Message[], string, readonly TargetName[], RegExp])[] = [
    ['pictures', [user([PNG(1), PNG(2)]), user([PNG(3)])], 'iVBORwE=', ['deepseek', 'llamaCpp'], /replaced by a note/],
    [
      'sound',
      [user([audioPart('UklGRg==', 'audio/wav'), audioPart('UklGRw==', 'audio/wav')])],
      'UklGRg==',
      ['deepseek', 'responses', 'anthropic', 'llamaCpp'],
      /replaced by a note/,
    ],
    ['documents', [user([PDF, PDF])], 'JVBERg==', ['mistral', 'deepseek', 'llamaCpp'], /replaced by a note/],
    ['files of text', [user([filePart('SGVsbG8=', 'text/plain', 'a.txt')])], '', [], /./],
    [
      'pictures of tools',
      toolGives(PNG(1)),
      'iVBORwE=',
      ['openai chat', 'mistral', 'deepseek', 'gemini', 'interactions', 'llamaCpp'],
      /follows? in a user message|replaced by a note/,
    ],
    [
      'pictures of tools that failed',
      toolGives(PNG(1), true),
      'iVBORwE=',
      ['openai chat', 'mistral', 'deepseek', 'anthropic', 'gemini', 'interactions', 'llamaCpp'],
      /follows? in (a user message|the user's message)|replaced by a note/,
    ],
    [
      'pictures that another model made',
      [user('Draw.'), assistant([textPart('Here:'), PNG(1)]), user('Again.'), assistant([textPart('Here:'), PNG(2)]), user('Thanks.')],
      'iVBORwE=',
      ['openai chat', 'mistral', 'deepseek', 'responses', 'anthropic', 'llamaCpp'],
      /An image in an earlier answer cannot be sent to|replaced by a note/,
    ],
  ];
  const all = cases.flatMap(([what, ...rest]) => NAMES.map(target => [what, target, ...rest] as const));

  test.each(all)('%s, to %s', async (_, target, thread, bytes, warned, words) => {
    const { body, warnings } = await TARGETS[target](thread);
    expect(warnings.map(({ message }) => message)).toEqual(warned.includes(target) ? [expect.stringMatching(words)] : []);
    const isGone = warnings.some(({ message }) => /replaced by a note|left out/.test(message));
    expect(body.includes(bytes)).toBe(!isGone || bytes === '');
    if (bytes === '') expect(body).toMatch(/Hello|SGVsbG8=/);
  });
});
