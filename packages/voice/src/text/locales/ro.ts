import type { LocaleData } from './locale.js';

export const ro: LocaleData = {
  titles: 'dl dna d-l d-na dr prof ing sf',
  abbreviations: 'art alin aprox bd cca cf cap d.hr î.hr ed etaj ex fig jud lt max min nr op p.m pag str ş.a ș.a tel vol',
  finals: 'etc',
  beforeNumber: 'nr art alin pag p fig cap',
  starters:
    'el ea ei ele eu tu noi voi acest această acesta un o și dar sau dacă când unde cine ce cum de în pe la cu pentru după înainte ' +
    'nu da este sunt era au are am apoi acum aici azi ieri mâine',
  neverLast: 'și sau dar un o de la cu pentru că în',
};
