import type { LocaleData } from './locale.js';

export const ar: LocaleData = {
  titles: 'د أ م أ.د',
  abbreviations: 'ص ج ط هـ م ق.م ت إلخ الخ ب ص.ب',
  beforeNumber: 'ص رقم',
  neverLast: 'و أو في من إلى على مع عن لأن أن',
  stops: ':',
};
