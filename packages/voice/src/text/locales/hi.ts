import type { LocaleData } from './locale.js';

export const hi: LocaleData = {
  titles: 'डॉ डा श्री प्रो पं',
  abbreviations: 'कि.मी कि.ग्रा ई.पू रु सं',
  beforeNumber: 'नं सं',
  neverLast: 'और या का की के को में से पर कि क्योंकि',
};
