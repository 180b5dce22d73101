import type { LocaleData } from './locale.js';

export const it: LocaleData = {
  titles:
    'psicol dir amm pres sig sigg sig.ra sig.na sig.ri dott dott.ssa dr prof prof.ssa ing avv arch geom rag on mons gen col cap don ill egr gent spett ' +
    's',
  abbreviations:
    'a.c d.c art artt approx c.a ca cap cfr cit co es ecc ed fig ibid int n.b nr nn num p.es p.za pag pagg par pres ss s.p.a ' +
    's.r.l tel trad v.le vol voll vs gen feb mar apr giu lug ago ott nov dic',
  finals: 'ecc etc',
  beforeNumber: 'lun mar mer gio ven sab dom set n nr num art pag pagg p pp fig cap',
  starters:
    "il lo la i gli le l un uno una egli lui lei esso essa noi voi loro io tu questo questa questi queste quello quella quelli c'è " +
    'c ci si mi ti vi mio mia tuo tua suo sua nostro nostra e ed ma o se quando dove come perché poiché per con senza in nel nella ' +
    'di del della dei da dal dalla a al alla su sul sulla tra fra dopo prima poi allora così anche inoltre tuttavia però infatti ' +
    'quindi dunque che chi cosa cos quale quanto sì no non è sono era erano ha hanno ogni tutti tutte molti molte alcuni oggi ieri ' +
    'domani ora adesso qui grazie',
  neverLast: 'e ed o ma il lo la i gli le un una di del della a al alla per con perché che in nel',
  leadIns: 'alle verso dalle dopo prima',
};
