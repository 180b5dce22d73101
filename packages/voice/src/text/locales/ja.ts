import type { LocaleData } from './locale.js';

/** Script rules suffice: the stops cut by themselves and no word is abbreviated with a dot. */
export const ja: LocaleData = {};
