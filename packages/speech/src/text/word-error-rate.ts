// How far a transcript is from what was said, counted in words.

import { numbersToDigits } from './number-words.js';

export interface WordErrors {
  readonly substitutions: number;
  readonly deletions: number;
  readonly insertions: number;
  /** Words in the reference. */
  readonly words: number;
}

/**
 * Word error rate: the fewest substitutions, deletions and insertions that turn the reference into the hypothesis, divided by
 * the reference's words. 0 is perfect; many insertions bring it above 1. Case, punctuation, accents and hyphens do not count,
 * nor whether a number is written in words or digits. An empty reference gives 0 for an empty hypothesis, else 1.
 *
 * @example
 * wordErrorRate('It costs twenty-five dollars.', 'it costs 25 dollars'); // 0
 */
export function wordErrorRate(reference: string, hypothesis: string): number {
  const { substitutions, deletions, insertions, words } = wordErrors(reference, hypothesis);
  const errors = substitutions + deletions + insertions;
  if (words === 0) return errors === 0 ? 0 : 1;
  return errors / words;
}

/** The errors behind `wordErrorRate`, by kind. */
export function wordErrors(reference: string, hypothesis: string): WordErrors {
  const said = normalizedWords(reference);
  const heard = normalizedWords(hypothesis);
  // One row of the edit-distance table at a time; a cell knows the errors of its cheapest way.
  let row: Cell[] = [{ cost: 0, substitutions: 0, deletions: 0, insertions: 0 }];
  for (let h = 1; h <= heard.length; h++) row.push(step(row[h - 1]!, 'insertions'));
  for (const word of said) {
    const next: Cell[] = [step(row[0]!, 'deletions')];
    for (let h = 1; h <= heard.length; h++) {
      const diagonal = word === heard[h - 1] ? row[h - 1]! : step(row[h - 1]!, 'substitutions');
      const others = [step(row[h]!, 'deletions'), step(next[h - 1]!, 'insertions')];
      next.push(others.reduce((best, cell) => (cell.cost < best.cost ? cell : best), diagonal));
    }
    row = next;
  }
  const { substitutions, deletions, insertions } = row.at(-1)!;
  return { substitutions, deletions, insertions, words: said.length };
}

interface Cell {
  readonly cost: number;
  readonly substitutions: number;
  readonly deletions: number;
  readonly insertions: number;
}

function step(from: Cell, kind: 'substitutions' | 'deletions' | 'insertions'): Cell {
  return { ...from, cost: from.cost + 1, [kind]: from[kind] + 1 };
}

/** Lower-case words without accents and punctuation, numbers as digits. Apostrophes inside words stay. */
function normalizedWords(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[’ʼ]/g, "'")
    .replace(/(\d),(?=\d{3})/g, '$1')
    .replace(/(?<=\d)\.(?=\d)/g, ' point ')
    .replace(/%/g, ' percent ')
    .replace(/&/g, ' and ');
  const words = plain.match(/[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu) ?? [];
  return numbersToDigits(words);
}
