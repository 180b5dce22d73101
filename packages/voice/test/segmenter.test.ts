import { type SegmentEvent, Segmenter } from '@antiphon/voice';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const RATE = 16_000;
const FRAME = 512;
const MS_PER_FRAME = (FRAME * 1000) / RATE;

/** Runs probabilities through a segmenter; frame i is filled with i, so that audio can be told apart. */
function segment(probabilities: readonly number[], policy = {}): SegmentEvent[] {
  const segmenter = new Segmenter({ sampleRate: RATE, policy });
  const events = probabilities.flatMap((probability, i) => segmenter.push(new Float32Array(FRAME).fill(i), probability));
  return [...events, ...segmenter.flush()];
}

const frames = (count: number, probability: number) => new Array<number>(count).fill(probability);
const utterances = (events: readonly SegmentEvent[]) => events.filter(event => event.type === 'speech_end');
const audioOf = (events: readonly SegmentEvent[]) => events.flatMap(event => (event.type === 'audio' ? [event.samples[0]] : []));

describe('Segmenter', () => {
  test.each([
    ['silence', frames(50, 0), []],
    ['one frame of noise is no speech', [...frames(10, 0), 0.9, ...frames(20, 0)], []],
    [
      'speech that is too short is taken back',
      [...frames(10, 0), ...frames(4, 0.9), ...frames(20, 0)],
      [{ accepted: false, start: 10, end: 14 }],
    ],
    ['an utterance', [...frames(10, 0), ...frames(10, 0.9), ...frames(20, 0)], [{ accepted: true, start: 10, end: 20 }]],
    [
      'a pause inside it',
      [...frames(5, 0), ...frames(9, 0.9), ...frames(8, 0), ...frames(9, 0.9), ...frames(20, 0)],
      [{ accepted: true, start: 5, end: 31 }],
    ],
    [
      'two utterances',
      [...frames(9, 0.9), ...frames(12, 0), ...frames(9, 0.9), ...frames(12, 0)],
      [
        { accepted: true, start: 0, end: 9 },
        { accepted: true, start: 21, end: 30 },
      ],
    ],
    ['hysteresis: 0.4 does not begin speech …', frames(40, 0.4), []],
    ['… and does not end it', [...frames(9, 0.9), ...frames(30, 0.4), ...frames(12, 0)], [{ accepted: true, start: 0, end: 39 }]],
    ['the stream ends in speech', frames(10, 0.9), [{ accepted: true, start: 0, end: 10 }]],
  ])('%s', (_, probabilities, expected) => {
    const found = utterances(segment(probabilities)).map(({ accepted, start, end }) => ({
      accepted,
      start: start / FRAME,
      end: end / FRAME,
    }));
    expect(found).toEqual(expected);
  });

  test('keeps the audio from before the beginning', () => {
    const audio = audioOf(segment([...frames(30, 0), ...frames(10, 0.9), ...frames(20, 0)], { preRollMs: 128, startMs: 64 }));
    expect(audio[0]).toBe(26);
    expect(audio.at(-1)).toBe(49);
  });

  test('an endless noise is cut at the longest utterance, and nothing of it is lost', () => {
    const events = segment(frames(200, 0.9), { maxUtteranceMs: 1600 });
    const ends = utterances(events);
    expect(ends.length).toBeGreaterThan(3);
    expect(ends.slice(0, -1).every(end => end.forced)).toBe(true);
    expect(audioOf(events)).toEqual(Array.from({ length: 200 }, (_, i) => i));
  });

  test('law: starts and ends alternate, spans are ordered, and no audio comes twice', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 400 }), probabilities => {
        const events = segment(probabilities, { silenceMs: 4 * MS_PER_FRAME, minSpeechMs: 3 * MS_PER_FRAME });
        const marks = events.filter(event => event.type !== 'audio').map(event => event.type);
        marks.forEach((type, i) => expect(type).toBe(i % 2 === 0 ? 'speech_start' : 'speech_end'));
        const ends = utterances(events);
        ends.forEach(({ start, end }, i) => {
          expect(end).toBeGreaterThan(start);
          expect(start).toBeGreaterThanOrEqual(ends[i - 1]?.end ?? 0);
        });
      }),
    );
  });

  test.each([
    [{ onThreshold: 0.3, offThreshold: 0.5 }, /Speech thresholds/],
    [{ silenceMs: -1 }, /silenceMs must not be negative/],
    [{ minSpeechMs: Number.NaN }, /minSpeechMs must not be negative/],
  ])('refuses %o', (policy, message) => {
    expect(() => new Segmenter({ sampleRate: RATE, policy })).toThrow(message);
  });
});
