import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HoldSound } from '../src/playout/hold-sound.js';

const RATE = 1000;
const FADE = 150;
const ones = new Float32Array(7).fill(1);

describe('HoldSound', () => {
  test('rises in 150 ms, stays, and falls in 150 ms', () => {
    const hold = new HoldSound(ones, RATE);
    expect(hold.isSilent).toBe(true);
    const up = hold.next(FADE + 50, true);
    expect(up[0]).toBeCloseTo(1 / FADE);
    expect(up[FADE / 2 - 1]).toBeCloseTo(0.5);
    expect([...up.slice(FADE - 1)].every(sample => sample === 1)).toBe(true);
    const down = hold.next(1000, false);
    expect(down.length).toBe(FADE);
    expect(down[FADE / 2 - 1]).toBeCloseTo(0.5);
    expect(down.at(-1)).toBe(0);
    expect(hold.isSilent).toBe(true);
    expect(hold.next(1000, false).length).toBe(0);
  });

  test('loops, and goes on where it stopped', () => {
    const sound = Float32Array.from({ length: 10 }, (_, i) => i);
    const hold = new HoldSound(sound, RATE);
    hold.next(FADE, true);
    expect([...hold.next(25, true)]).toEqual(Array.from({ length: 25 }, (_, i) => i % 10));
    hold.cut();
    const next = hold.next(2, true);
    expect(next[0]).toBeCloseTo(5 / FADE);
    expect(next[1]).toBeCloseTo((6 * 2) / FADE);
  });

  test('after a cut it rises from silence', () => {
    const hold = new HoldSound(ones, RATE);
    hold.next(500, true);
    hold.cut();
    expect(hold.isSilent).toBe(true);
    expect(hold.next(1, true)[0]).toBeCloseTo(1 / FADE);
  });

  test('law: set back, it gives the same again; in pieces, the same as in one', () => {
    const moves = fc.array(fc.tuple(fc.nat(90), fc.boolean()), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(moves, fc.integer({ min: 1, max: 40 }), (list, length) => {
        const sound = Float32Array.from({ length }, (_, i) => i + 1);
        const hold = new HoldSound(sound, RATE);
        for (const [count, rises] of list) {
          const { position } = hold;
          const whole = [...hold.next(count, rises)];
          const after = hold.position;
          hold.position = position;
          const pieces: number[] = [];
          for (let i = 0; i < count; i++) pieces.push(...hold.next(1, rises));
          expect(pieces).toEqual(whole);
          expect(hold.position).toEqual(after);
        }
      }),
    );
  });
});
