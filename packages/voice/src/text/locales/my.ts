import type { LocaleData } from './locale.js';

export const my: LocaleData = {
  neverLast: 'နှင့် သို့မဟုတ်',
};
