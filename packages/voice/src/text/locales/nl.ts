import type { LocaleData } from './locale.js';

export const nl: LocaleData = {
  titles: 'dhr mevr mw mr mrs dr drs ir ing prof ds jhr st',
  abbreviations:
    'a.u.b aanw afb afd art b.v bijv bv blz ca d.w.z d.m.v dd e.a e.d evt excl fa fam fig gem geb i.p.v i.v.m incl inz jl jr m.a.w ' +
    'm.b.t m.i.v max min mln mld n.a.v n.chr v.chr nl nr o.a o.l.v p.m pag plm red resp sr t.a.v t.o.v tel temp u.a v.a vgl vnl ' +
    'vnw z.g zgn z.o.z jan feb mrt apr jun jul aug sept okt nov dec',
  finals: 'enz etc e.d',
  beforeNumber: 'nr art blz p pag fig afb',
  starters:
    "de het een 't hij zij ze wij we jij je u ik dit dat deze die er en maar of want als toen wanneer omdat hoewel dus daarom " +
    'daarna dan nu hier daar waar wie wat hoe waarom welke welk in op met voor van naar bij uit om na sinds tijdens door over tot ' +
    'mijn jouw zijn haar ons onze hun ja nee niet geen ook nog alleen vandaag gisteren morgen is was waren heeft hebben kan kunnen ' +
    'zal zullen wil elke elk alle veel sommige eerst vervolgens tenslotte echter bovendien misschien dank',
  neverLast: 'en of maar de het een van voor met te om want omdat dat in op aan',
  leadIns: 'om rond tegen vanaf tot voor na',
};
