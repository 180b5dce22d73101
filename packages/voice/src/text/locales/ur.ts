import type { LocaleData } from './locale.js';

export const ur: LocaleData = {
  titles: 'ڈاکٹر',
  abbreviations: 'ق.م ص ج',
  beforeNumber: 'ص',
  neverLast: 'اور یا میں سے کو پر کے کا کی کہ کیونکہ',
};
