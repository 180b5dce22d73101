import type { LocaleData } from './locale.js';

export const hy: LocaleData = {
  abbreviations: 'թ պրոֆ դոկտ տ գլ հմմտ օր ն.թ',
  starters: 'նա նրանք ես դու մենք դուք սա այս այդ և բայց կամ եթե երբ որտեղ ով ինչ ինչպես ինչու այո ոչ',
  neverLast: 'և ու կամ բայց որ',
  stops: ':',
};
