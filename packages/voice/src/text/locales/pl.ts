import type { LocaleData } from './locale.js';

export const pl: LocaleData = {
  titles: 'p pp dr hab inż mgr prof ks św gen płk kpt por śp red o bp abp hr',
  abbreviations:
    'al adr ang art bałt bm c.d cd cdn cz dn dot ds dyr godz gr im itp itd jw k kard kl ktg lek l.dz m.in m.st mar mln mld n.e ' +
    'p.n.e nb np nr ob obr ok os oś pkt pl pn pol pow poz poj przyp pt r ros rozdz ryc s sp str szt śr tab tel tj tys tzn tzw ub ' +
    'ul ur verte wg wlkp woj właśc wsch wt zach zał zm zob zwł źródł zł sty lut kwi cze lip wrz paź gru',
  finals: 'itd itp etc',
  beforeNumber: 'nr str s art ust poz pkt rys tab godz ok',
  starters:
    'on ona ono oni one ja ty my wy to ten ta te ci tamten jest są był była było były nie tak i a ale lub albo czy że bo gdy kiedy ' +
    'jak jeśli jeżeli gdzie kto co dlaczego który która które w we na z ze do od po przed za nad pod przy przez dla bez o u mój ' +
    'moja twój jego jej ich nasz wasz jednak więc dlatego potem następnie teraz dziś dzisiaj wczoraj jutro tutaj tu tam wszystko ' +
    'wszyscy każdy wiele niektóre może proszę dziękuję już jeszcze tylko także również ponadto',
  months: 'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia',
  neverLast: 'i a lub albo oraz ale w we na z ze do od dla o u że bo',
  ordinals: true,
  lowerContinues: true,
};
