import type { LocaleData } from './locale.js';

export const nb: LocaleData = {
  titles: 'hr fr frk dr prof kapt gen st',
  abbreviations:
    'adr alm ang apr aug bl.a bl ca d.v.s dvs des dept el evt f.eks feb fig forts gj.snitt gnr inkl jan jf jr jun jul kap kl kr ' +
    'maks mht mill mrd mnd nov nr o.a o.l obs okt oktr osv pga pkt pst s.u sek sept st str tlf vedr',
  finals: 'osv etc m.m m.v',
  beforeNumber: 'nr s kap fig pkt kl',
  starters:
    'det den de der en et ei han hun jeg du vi dere man dette denne disse og men eller hvis når da som fordi selv så derfor ' +
    'deretter nå her hvor hvem hva hvordan hvorfor på med til fra av ved om etter før siden under over min mitt mine din hans ' +
    'hennes vår deres ja nei ikke også bare ennå i er var har hadde kan kunne vil ville skal skulle må alle mange noen hver først ' +
    'imidlertid dessuten kanskje takk la',
  months: 'januar februar mars april mai juni juli august september oktober november desember',
  neverLast: 'og eller men den det de en et til av for med fordi at i på',
  ordinals: true,
};
