import type { LocaleData } from './locale.js';

export const tr: LocaleData = {
  titles: 'dr prof doç av sn müh öğr alb gen',
  abbreviations: 'bkz bl blm cad cilt çev der ed ing hz km m.ö m.s mah mad max min no ort örn sf sk sok st şti tel ünv vb vd yay yy',
  finals: 'vb vs vd',
  beforeNumber: 'no s sf md',
  starters:
    'bu şu o ben sen biz siz onlar bir ve ama fakat veya eğer çünkü ne nasıl neden nerede kim hangi evet hayır değil var yok sonra ' +
    'önce şimdi bugün dün yarın burada her bazı çok daha ayrıca ancak belki',
  months: 'ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık',
  neverLast: 've veya ama ile için çünkü bir',
  ordinals: true,
};
