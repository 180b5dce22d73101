import type { LocaleData } from './locale.js';

export const fi: LocaleData = {
  titles: 'hra rva nti tri prof',
  abbreviations:
    'ao ark alv em ent esim eaa ed fil gen hlö huom ih im iltap joht jne jr ka kk kl klo ks kok kpl krs lk ln lyh läh m.m mm ' +
    'milj mrd n ns nim no nro nyk o.s oik os oy p pnä po puh puh.joht s so sr synt t.s tms tn tri ts toim tod.näk v vrt vs vt ym ' +
    'yms yo',
  finals: 'jne ym yms tms',
  beforeNumber: 'nro n s kpl klo',
  starters:
    'se ne hän he minä sinä me te tämä nämä tuo nuo ja mutta tai jos kun koska vaikka niin siksi sitten nyt täällä siellä missä ' +
    'kuka mikä mitä miten miksi milloin ei kyllä on oli ovat olivat voi vain myös vielä jo kaikki monet jokainen ensin kuitenkin ' +
    'lisäksi ehkä kiitos tänään eilen huomenna',
  months:
    'tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta ' + 'joulukuuta',
  neverLast: 'ja tai mutta että koska',
  ordinals: true,
};
