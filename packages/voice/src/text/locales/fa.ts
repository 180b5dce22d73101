import type { LocaleData } from './locale.js';

export const fa: LocaleData = {
  titles: 'دکتر',
  abbreviations: 'ق.م ه.ش ه.ق ر.ک ص ج',
  beforeNumber: 'ص',
  neverLast: 'و یا در از به با برای که چون',
};
