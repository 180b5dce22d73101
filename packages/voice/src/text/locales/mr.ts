import type { LocaleData } from './locale.js';

export const mr: LocaleData = {
  titles: 'डॉ श्री श्रीमती प्रा',
  abbreviations: 'कि.मी इ.स रु कु',
  beforeNumber: 'क्र',
  neverLast: 'आणि किंवा व की ते कारण',
};
