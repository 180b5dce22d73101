import type { LocaleData } from './locale.js';

export const fr: LocaleData = {
  titles: 'm mm mme mmes mlle mlles me mgr dr pr st ste',
  abbreviations:
    'av bd bld boul c.-à-d cf chap cie dép env ex fig hab min n.b p.ex p.-s réf s.a s.v.p sté suiv tél trad vol av.j.-c ' +
    'apr.j.-c j.-c janv févr avr juil sept oct nov déc',
  finals: 'etc',
  beforeNumber: 'art n no n° nos p pp fig chap',
  starters:
    'le la les l un une des du de d il elle ils elles on nous vous je j tu ce c cet cette ces ça cela mon ma mes ton ta tes son sa ' +
    'ses notre nos votre vos leur leurs et mais ou donc or ni car si s quand lorsque comme pour par avec sans dans en à au aux sur ' +
    'sous chez depuis pendant après avant puis ensuite enfin alors ainsi aussi cependant toutefois pourtant qui que qu quoi où ' +
    "comment pourquoi quel quelle oui non merci ne n y tout tous toutes chaque plusieurs certains aujourd'hui aujourd demain hier " +
    'ici là voici voilà est sont était peut',
  neverLast: 'et ou mais le la les un une des de du à au aux pour avec car que qui dans en sur',
  leadIns: 'à vers dès avant après',
};
