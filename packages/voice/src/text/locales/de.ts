import type { LocaleData } from './locale.js';

export const de: LocaleData = {
  titles: 'hr hrn fr frl dipl ing mag univ prof dr med phil rer nat jur habil',
  abbreviations:
    'abs abschn anm aufl bd bsp bspw bzgl bzw ca d.h dgl ebd einschl engl evtl exkl frz gegr geb gem gest ggf griech hrsg i.d.r ' +
    'inkl insb jh jhd kap lt mind mio mrd nr o.ä o.g pos rd rel s.o s.u sog st str tel u.a u.u ungef usf verf vgl v.a v.chr ' +
    'n.chr z.b z.t z.zt zzgl zw gmbh jan feb apr jun jul aug sept okt nov dez dt österr schweiz allg betr gez ' +
    'i.a i.v m.e',
  finals: 'usw etc u.v.m u.s.w',
  beforeNumber: 'nr s art ziff rn tz abb kap tab abs bd',
  suffixes: 'str',
  starters:
    'der die das den dem des ein eine einen einem einer eines er sie es wir ihr ich du man und aber oder doch denn wenn weil als ' +
    'ob dass da dann danach dort hier heute gestern morgen jetzt nun nach vor seit bei mit für von zu zum zur im in an am auf aus ' +
    'über unter während wer wie wo was wann warum welche welcher welches dies diese dieser dieses jede jeder jedes alle viele ' +
    'einige manche mein meine dein deine sein seine ihre ihren ihrem ihrer unser unsere ja nein nicht bitte danke auch nur noch ' +
    'schon so sonst zudem außerdem jedoch allerdings trotzdem deshalb daher deswegen damit dabei dazu darum zuerst zunächst ' +
    'schließlich vielleicht natürlich leider ist sind war waren hat haben kann können wird werden soll muss darf hast bist kannst ' +
    'willst möchtest bis beide',
  months:
    'januar jänner februar märz april mai juni juli august september oktober november dezember jan feb apr jun jul aug sep sept ' +
    'okt nov dez',
  neverLast: 'und oder aber der die das den dem des ein eine einen zu von für mit weil dass wenn in an auf im am',
  leadIns: 'um gegen ab bis vor nach seit',
  ordinals: true,
};
