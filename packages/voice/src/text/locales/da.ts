import type { LocaleData } from './locale.js';

export const da: LocaleData = {
  titles: 'hr fr frk dr prof mr mrs ms kapt gen mt st',
  abbreviations:
    'adr afd afs alm ang anm apr aug bd bl.a bla ca cand d.d d.v.s dvs dec dept div eks ekskl el evt f.eks feb fhv fig forf forsk ' +
    'forts fx gl gns hhv ifm ift iht inkl int jan jf jr jun jul jvf kap kgl kl lign m.a.o m.fl m.h.t m.m mag maks max md mdr mht ' +
    'mia min mio mr mv mvh nov nr o.a obs okt omg opr ordf osv p.gr.a pct pga pkt pr red ref rev s.u sek sept spm sr st stk str ' +
    'tel tilsv tlf u.a ugtl vedr vha vol ø å',
  finals: 'osv etc m.m m.fl m.v mv',
  beforeNumber: 'nr s side kap stk art fig afs pkt kl p',
  starters:
    'det den de der en et han hun jeg du vi i man dette denne disse og men eller for hvis når da som fordi selvom så derfor ' +
    'derefter nu her hvor hvem hvad hvordan hvorfor hvornår hvilken på med til fra af ved om efter før siden under over min mit ' +
    'mine din dit dine hans hendes vores jeres deres ja nej ikke også kun endnu dag går morgen er var har havde kan kunne vil ' +
    'ville skal skulle må alle mange nogle hver først dernæst dog desuden måske tak lad venligst næste praksis',
  months:
    'januar februar marts april maj juni juli august september oktober november december jan feb mar apr jun jul aug sep sept okt ' +
    'nov dec',
  neverLast: 'og eller men den det de en et til af for med fordi at i på',
  leadIns: 'klokken kl ved omkring fra til før efter',
  ordinals: true,
};
