import type { LocaleData } from './locale.js';

export const pt: LocaleData = {
  titles: 'sr sra sres sras srta dr dra drs prof profa eng engª d exmo exma',
  abbreviations:
    'a.c d.c art av apto aprox cap cia ed ex fig ltda máx mín núm obs p.ex pág págs r s.a séc tel tels trav vol jan fev abr ' +
    'jun jul ago nov dez',
  finals: 'etc',
  beforeNumber: 'n nº no núm art pág págs p pp fig cap',
  starters:
    'o a os as um uma uns umas ele ela eles elas eu tu você vocês nós isto isso aquilo este esta esse essa aquele aquela meu minha ' +
    'seu sua nosso nossa e mas ou se não sim quando onde como porque embora para por com sem em no na nos nas de do da dos das ' +
    'desde até entre sobre durante depois antes então assim também além que quem qual é são foi era está estão há tem todo todos ' +
    'todas cada muitos muitas alguns outro outra hoje ontem amanhã agora aqui obrigado obrigada',
  neverLast: 'e ou mas o a os as um uma de do da para por com porque que em no na',
};
