import { defaultTurnPolicy, type PolicyChanges, turnPolicy } from '@antiphon/voice';
import { describe, expect, test } from 'vitest';

describe('the policy', () => {
  test('is what the design says', () => {
    expect(turnPolicy()).toEqual(defaultTurnPolicy);
    expect(turnPolicy()).toMatchObject({
      endpoint: { finishedMs: 300, unfinishedMs: 1500 },
      interrupt: { duckMs: 120, pauseMs: 300, words: 2, resumeMs: 600 },
      preemptive: 'text',
      guesses: 3,
      holdMs: 700,
      awayMs: 15_000,
      backchannels: [],
      vad: { onThreshold: 0.5, offThreshold: 0.35, startMs: 64, preRollMs: 256, minSpeechMs: 250, maxUtteranceMs: 30_000 },
    });
    expect(turnPolicy().apology).not.toBe('');
  });

  test('changes group by group, and leaves the defaults alone', () => {
    const before = structuredClone(defaultTurnPolicy);
    const policy = turnPolicy({
      endpoint: { finishedMs: 500 },
      interrupt: { pauseMs: false },
      vad: { silenceMs: 700 },
      preemptive: 'off',
      awayMs: false,
      backchannels: ['aye'],
      apology: '',
    });
    expect(policy).toEqual({
      ...before,
      endpoint: { ...before.endpoint, finishedMs: 500 },
      interrupt: { ...before.interrupt, pauseMs: false },
      vad: { ...before.vad, silenceMs: 700 },
      preemptive: 'off',
      awayMs: false,
      backchannels: ['aye'],
      apology: '',
    });
    expect(defaultTurnPolicy).toEqual(before);
  });

  const numbers: readonly (readonly [string, (value: number) => PolicyChanges])[] = [
    ['endpoint.finishedMs', value => ({ endpoint: { finishedMs: value } })],
    ['endpoint.unfinishedMs', value => ({ endpoint: { unfinishedMs: value } })],
    ['endpoint.mergeMs', value => ({ endpoint: { mergeMs: value } })],
    ['endpoint.wordsMs', value => ({ endpoint: { wordsMs: value } })],
    ['interrupt.duckMs', value => ({ interrupt: { duckMs: value } })],
    ['interrupt.pauseMs', value => ({ interrupt: { pauseMs: value } })],
    ['interrupt.words', value => ({ interrupt: { words: value } })],
    ['interrupt.minWords', value => ({ interrupt: { minWords: value } })],
    ['interrupt.resumeMs', value => ({ interrupt: { resumeMs: value } })],
    ['guesses', value => ({ guesses: value })],
    ['vad.silenceMs', value => ({ vad: { silenceMs: value } })],
    ['vad.onThreshold', value => ({ vad: { onThreshold: value, offThreshold: 0 } })],
    ['holdMs', value => ({ holdMs: value })],
    ['awayMs', value => ({ awayMs: value })],
  ];

  test.each(numbers)('refuses a bad %s by name', (name, changes) => {
    for (const bad of [-1, Number.NaN, Number.NEGATIVE_INFINITY, '700', null, true, undefined] as number[]) {
      expect(() => turnPolicy(changes(bad))).toThrow(RangeError);
      expect(() => turnPolicy(changes(bad))).toThrow(`policy.${name} `);
    }
    expect(() => turnPolicy(changes(0))).not.toThrow();
  });

  test('refuses thresholds the wrong way round, and texts that are none', () => {
    expect(() => turnPolicy({ vad: { onThreshold: 0.3, offThreshold: 0.5 } })).toThrow(
      /offThreshold \(0\.5\) must not be above onThreshold \(0\.3\)/,
    );
    expect(() => turnPolicy({ apology: 5 as never })).toThrow(/apology must be a text/);
    expect(() => turnPolicy({ backchannels: 'mhm' as never })).toThrow(/backchannels must be a list of texts/);
  });

  test.each(numbers)('%s may be off only where that means something', (name, changes) => {
    const off = () => turnPolicy(changes(false as unknown as number));
    if (['interrupt.pauseMs', 'holdMs', 'awayMs'].includes(name)) expect(off).not.toThrow();
    else expect(off).toThrow(`policy.${name} `);
  });

  test.each([
    [{ endpont: {} }, 'policy does not know "endpont"'],
    [{ interrupt: { pauseMS: 300 } }, 'policy.interrupt does not know "pauseMS"'],
    [{ vad: { silence: 1 } }, 'policy.vad does not know "silence"'],
    [{ endpoint: 500 }, 'policy.endpoint must be an object'],
  ])('refuses %j', (changes, message) => {
    expect(() => turnPolicy(changes as PolicyChanges)).toThrow(TypeError);
    expect(() => turnPolicy(changes as PolicyChanges)).toThrow(message);
  });

  test('refuses a way to guess that there is not', () => {
    expect(() => turnPolicy({ preemptive: 'always' as 'off' })).toThrow('policy.preemptive must be off, text or speech, not always');
  });
});
