import type { LocaleData } from './locale.js';

export const bn: LocaleData = {
  titles: 'ড ডা মো',
  abbreviations: 'কি.মি খ্রি',
  neverLast: 'এবং ও বা কিন্তু',
};
