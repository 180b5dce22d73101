import { PlayoutLedger } from '@antiphon/voice';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

describe('PlayoutLedger', () => {
  test('tells the words that were heard, and no part of a word', () => {
    const ledger = new PlayoutLedger();
    const text = 'One two three four.';
    const clause = ledger.open(1, text);
    ledger.queue(clause, 1900);
    ledger.close(clause);
    const heard = Array.from({ length: 19 }, () => {
      const said = ledger.heard(1);
      ledger.advance(100);
      return said;
    });
    expect(new Set(heard)).toEqual(new Set(['', 'One', 'One two', 'One two three', 'One two three four', text].slice(0, -1)));
    expect(ledger.heard(1)).toBe(text);
  });

  test('a clause counts in full only when it is complete and played', () => {
    const ledger = new PlayoutLedger();
    const clause = ledger.open(1, 'Hello there.');
    ledger.queue(clause, 100);
    ledger.advance(100);
    expect(ledger.heard(1)).not.toBe('Hello there.');
    ledger.close(clause);
    expect(ledger.heard(1)).toBe('Hello there.');
  });

  test('word marks say where the sound stood', () => {
    const ledger = new PlayoutLedger();
    const clause = ledger.open(1, 'Well, hello.');
    const words = [
      { start: 0, end: 5, sample: 0 },
      { start: 6, end: 12, sample: 800 },
    ];
    ledger.queue(clause, 1000, words);
    ledger.close(clause);
    ledger.advance(790);
    expect(ledger.heard(1)).toBe('');
    ledger.advance(20);
    expect(ledger.heard(1)).toBe('Well,');
    ledger.advance(190);
    expect(ledger.heard(1)).toBe('Well, hello.');
  });

  test('text without sound between heard clauses is part of what was heard', () => {
    const ledger = new PlayoutLedger();
    for (const [text, samples] of [
      ['Done.', 100],
      [' 🎉 ', 0],
      ['Next.', 100],
    ] as const) {
      const clause = ledger.open(1, text);
      ledger.queue(clause, samples);
      ledger.close(clause);
    }
    ledger.advance(150);
    expect(ledger.heard(1)).toBe('Done. 🎉 ');
  });

  test('a sink that played more than it was given is a fault', () => {
    expect(() => new PlayoutLedger().advance(1)).toThrow(RangeError);
  });

  test('law: played + flushed + waiting = queued, and what was heard is a growing prefix of the reply', () => {
    const clauses = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.integer({ min: 0, max: 500 })), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(clauses, fc.array(fc.integer({ min: 0, max: 300 })), (spoken, steps) => {
        const ledger = new PlayoutLedger();
        let total = 0;
        for (const [text, samples] of spoken) {
          const clause = ledger.open(1, text);
          ledger.queue(clause, samples);
          ledger.close(clause);
          total += samples;
        }
        const reply = spoken.map(([text]) => text).join('');
        let before = '';
        let played = 0;
        for (const step of steps) {
          const now = Math.min(step, total - played);
          ledger.advance(now);
          played += now;
          const heard = ledger.heard(1);
          expect(reply.startsWith(heard)).toBe(true);
          expect(heard.length).toBeGreaterThanOrEqual(before.length);
          before = heard;
        }
        ledger.flush(1);
        expect(ledger.count(1)).toEqual({ queued: total, played, flushed: total - played });
      }),
    );
  });
});
