import type { LocaleData } from './locale.js';

export const ko: LocaleData = {
  neverLast: '그리고 또는 및',
};
