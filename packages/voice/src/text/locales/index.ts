/** All languages the splitter has data for, by their two-letter code. */
import { am } from './am.js';
import { ar } from './ar.js';
import { bg } from './bg.js';
import { bn } from './bn.js';
import { cs } from './cs.js';
import { da } from './da.js';
import { de } from './de.js';
import { el } from './el.js';
import { en } from './en.js';
import { es } from './es.js';
import { fa } from './fa.js';
import { fi } from './fi.js';
import { fr } from './fr.js';
import { hi } from './hi.js';
import { hu } from './hu.js';
import { hy } from './hy.js';
import { it } from './it.js';
import { ja } from './ja.js';
import { kk } from './kk.js';
import { km } from './km.js';
import { ko } from './ko.js';
import { lo } from './lo.js';
import type { LocaleData } from './locale.js';
import { mr } from './mr.js';
import { my } from './my.js';
import { nb } from './nb.js';
import { nl } from './nl.js';
import { pl } from './pl.js';
import { pt } from './pt.js';
import { ro } from './ro.js';
import { ru } from './ru.js';
import { sk } from './sk.js';
import { sv } from './sv.js';
import { th } from './th.js';
import { tr } from './tr.js';
import { uk } from './uk.js';
import { ur } from './ur.js';
import { zh } from './zh.js';

/** `no` and `nn` share the data of `nb`. */
export const locales: Readonly<Record<string, LocaleData>> = {
  am,
  ar,
  bg,
  bn,
  cs,
  da,
  de,
  el,
  en,
  es,
  fa,
  fi,
  fr,
  hi,
  hu,
  hy,
  it,
  ja,
  kk,
  km,
  ko,
  lo,
  mr,
  my,
  nb,
  nl,
  pl,
  pt,
  ro,
  ru,
  sk,
  sv,
  th,
  tr,
  uk,
  ur,
  zh,
  no: nb,
  nn: nb,
};
