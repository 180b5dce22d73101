import type { LocaleData } from './locale.js';

export const km: LocaleData = {
  abbreviations: 'គ.ស',
  neverLast: 'និង ឬ',
};
