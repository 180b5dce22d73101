import type { LocaleData } from './locale.js';

export const am: LocaleData = {
  titles: 'ዶ አቶ ወ',
  abbreviations: 'ዓ.ም ዓ.ዓ',
  neverLast: 'እና ወይም ግን',
};
