import type { LocaleData } from './locale.js';

export const sk: LocaleData = {
  titles: 'p pp dr mudr judr ing mgr bc phdr rndr mvdr doc prof akad gen kpt st sv',
  abbreviations:
    'a.d a.s angl apod atď atp č čl čs cca č.j hl hod im kap kol kpt kt km lat mil min mld mj m.i max msk n.l n.r napr nemč ' +
    'nar obr okr okt odb or ods op o.i o.z os pol pozn prípr por r r.č resp rod s sekr spol s.r.o s.a str stor súhl sl š šk šp šs ' +
    'tab tel tj t.č t.j tzv tzn ul uh v.i v.r vr vyd zák zb zn zv žel jan feb mar apr jún júl aug sept nov dec',
  finals: 'atď atp apod',
  beforeNumber: 'č čl str s ods obr tab kap',
  starters:
    'on ona ono oni ony ja ty my vy to ten tá tí je sú bol bola bolo boli nie áno a ale alebo či že lebo keď kedy ako ak kde kto ' +
    'čo prečo ktorý ktorá ktoré v vo na z zo do od po pred za nad pod pri pre cez bez o u môj moja tvoj jeho jej ich náš váš však ' +
    'preto potom teraz dnes včera zajtra tu tam všetko všetci každý mnohé niektoré môže už ešte len aj tiež ďakujem',
  months:
    'januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra január február marec apríl máj jún ' +
    'júl august september október november december',
  neverLast: 'a i aj alebo ale v vo na z zo do od pre o u že lebo',
  ordinals: true,
  lowerContinues: true,
};
