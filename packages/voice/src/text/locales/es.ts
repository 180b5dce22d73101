import type { LocaleData } from './locale.js';

export const es: LocaleData = {
  titles: 'sr sra sres sras srta srtas d dña dra dres dr prof profa lic ing arq gral cnel tte cap mons fr sto sta st excmo excma ilmo',
  abbreviations:
    'a.c d.c aprox art av avda bco cap cía dpto depto ed ee.uu ej entlo esq fig gob hnos kg km lda ltda máx mín núm p.ej pág págs ' +
    'párr pdo pl pza s.a s.l sig tel tfno ud uds vd vds vol vs ene feb abr jun jul ago sept oct nov dic ctra',
  finals: 'etc',
  beforeNumber: 'núm no nº n art pág págs p pp fig cap',
  starters:
    'el la los las un una unos unas lo él ella ellos ellas yo tú usted ustedes nosotros esto este esta estos estas ese esa eso ' +
    'aquel aquella mi mis tu tus su sus nuestro nuestra y e pero o u si no sí cuando donde como porque aunque pues para por con ' +
    'sin en de a al del desde hasta entre según sobre durante después antes luego entonces así también además embargo qué quién ' +
    'cuál cuándo cómo dónde hay es son fue era está están ha han se te le les me nos que quien todo todos todas cada muchos muchas ' +
    'algunos algunas otro otra hoy ayer mañana ahora aquí allí gracias buenos buenas',
  neverLast: 'y e o u pero el la los las un una de del a al para por con porque que en',
  leadIns: 'a desde hacia sobre hasta',
};
