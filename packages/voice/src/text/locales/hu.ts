import type { LocaleData } from './locale.js';

export const hu: LocaleData = {
  titles: 'dr prof ifj id özv',
  abbreviations:
    'ált áll bp bt cca csüt du db dec em ea ev febr fszt főv h.k hsz ill ism jan júl jún kb kft kht kk kör köv krt m mb mill ' +
    'n.b nov nr nyrt okt old p pl rt sgt stb szept szt sz tc tel ti tk u ua ún vasz vm vö zrt zs',
  finals: 'stb',
  beforeNumber: 'sz nr old',
  starters:
    'a az egy ez azt ő ők én te mi ti és de vagy ha amikor mert bár így ezért aztán most itt ott hol ki mit hogyan miért mikor nem ' +
    'igen van volt vannak lehet csak is még már minden sok néhány először azonban talán köszönöm ma tegnap holnap',
  months: 'január február március április május június július augusztus szeptember október november december',
  neverLast: 'és vagy de a az egy hogy mert',
  ordinals: true,
};
