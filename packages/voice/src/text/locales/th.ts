import type { LocaleData } from './locale.js';

/** A dot behind a letter of this script always abbreviates: see the script rules. */
export const th: LocaleData = {
  neverLast: 'และ หรือ',
};
