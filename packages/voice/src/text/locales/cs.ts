import type { LocaleData } from './locale.js';

export const cs: LocaleData = {
  titles: 'p pí dr mudr judr ing mgr bc phdr rndr doc prof gen kpt sv',
  abbreviations:
    'a.s angl apod atd atp č čl cca hl hod kap kol km lat max min mj mld mil např násl n.l př.n.l obr odst okr pozn r resp s ' +
    's.r.o spol srov st str stol tab tel tj tzn tzv ul v.v vyd zák zejm zn',
  finals: 'atd atp apod',
  beforeNumber: 'č čl str s odst obr tab kap',
  starters:
    'on ona ono oni já ty my vy to ten ta ti je jsou byl byla bylo byli ne ano a ale nebo či že protože když kdy jak jestli pokud ' +
    'kde kdo co proč který která které v ve na z ze do od po před za nad pod při pro přes bez o u můj moje tvůj jeho její jejich ' +
    'náš váš však proto potom pak teď nyní dnes včera zítra tady tam vše všichni každý mnoho některé může už ještě jen také děkuji',
  months: 'ledna února března dubna května června července srpna září října listopadu prosince',
  neverLast: 'a i nebo ale v ve na z ze do od pro o u že protože',
  ordinals: true,
  lowerContinues: true,
};
