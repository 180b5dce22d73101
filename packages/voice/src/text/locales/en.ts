import type { LocaleData } from './locale.js';

export const en: LocaleData = {
  titles: 'messrs mx gen lt cmdr adm maj cpl sen fr supt insp',
  abbreviations:
    'ave blvd rd ln hwy pkwy bldg apt ste dept div assn assoc univ inst cie plc mfg intl natl govt ext avg std misc incl excl resp orig viz ibid gov rep pres det ' +
    'jan feb apr jun jul aug sep sept oct nov dec tue tues wed thu thur thurs ' +
    'ariz calif colo conn fla kan ky md mich minn mont neb nev okla penn tenn tex va vt wis wyo',
  finals: 'ft oz lb lbs yd hr hrs mins secs mph kg km cm mm',
  beforeNumber: 'chap par para pt pts ver ref vols app ex',
  starters:
    'the this that these those there here he she it we you they i my his her its our your their a an and but so or if as for to from with in on at by of ' +
    'when where why how what who which whose while after before since because although though however then now yes no not please let do does did is are was were ' +
    'can could would should will have has had also all some many most both each every one once next first second third finally meanwhile today tomorrow yesterday thanks ' +
    'just maybe perhaps nobody everybody everyone someone another other others still yet only even such instead otherwise therefore thus hence until unless during despite ' +
    'nothing something everything anything again sometimes usually often later soon somehow well okay ok oh',
  months: 'monday tuesday wednesday thursday friday saturday sunday',
  neverLast: 'and or the a an to of for with because but if in on at by from as that',
  leadIns: 'at by around about before after until till since from between',
};
