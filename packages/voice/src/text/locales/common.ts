import type { LocaleData } from './locale.js';

/** Abbreviations met in texts of every language. */
export const common: LocaleData = {
  titles: 'mr mrs ms dr drs prof mt capt col sgt hon rev e.g i.e vs cf',
  abbreviations: 'jr sr inc ltd co corp llc bros st ca approx al vol ed eds tel ph.d b.a m.a m.d n.b',
  finals: 'etc a.m p.m',
  beforeNumber: 'no nos nr n° nº № p pp fig figs art sec ch § eq',
  exclaimed: 'yahoo yum jeopardy joomla wham',
};
