import type { LocaleData } from './locale.js';

export const sv: LocaleData = {
  titles: 'hr fr frk dr prof kapt gen st',
  abbreviations:
    'adj adr ang anm apr aug bl.a ca d.v.s dvs dec dyl ev e.d el enl etc ex exkl f.d f.n f.ö feb fig fr.o.m ggr inkl jan jfr jr ' +
    'jul jun kap kl kr m.a.o m.fl max milj mrd n.b nov nr o.d okt osv p.g.a red ref resp s.a.s s.k sek sept sid st t.ex t.o.m ' +
    't.v tel tr ung vard',
  finals: 'osv etc m.m m.fl',
  beforeNumber: 'nr s sid kap fig kl',
  starters:
    'det den de där en ett han hon jag du vi ni man detta denna dessa och men eller om när då som eftersom fast så därför sedan nu ' +
    'här var vem vad hur varför på med till från av vid efter före under över min mitt mina din hans hennes vår deras ja nej inte ' +
    'också bara ännu i är har hade kan kunde vill ville ska skulle måste alla många några varje först dock dessutom kanske tack ' +
    'låt',
  months: 'januari februari mars april maj juni juli augusti september oktober november december',
  neverLast: 'och eller men den det de en ett till av för med att i på',
};
