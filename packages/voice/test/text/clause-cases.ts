/** Texts and the pieces they are to be cut into, written as lists of pieces; the text is the pieces put together with `glue`. */
export interface ClauseCase {
  readonly kind: string;
  readonly pieces: readonly string[];
  readonly glue?: string;
  readonly locale?: string;
}

const of =
  (kind: string, options: { glue?: string; locale?: string } = {}) =>
  (...pieces: string[]): ClauseCase => ({ kind, pieces, ...options });

const abbreviation = of('abbreviation');
const atom = of('atom');
const quote = of('quote');
const ellipsis = of('ellipsis');
const line = of('line', { glue: '\n' });
const list = of('list in one line');
const emoji = of('emoji');
const markup = of('markup');
const glued = of('glued', { glue: '' });

const general: readonly ClauseCase[] = [
  abbreviation('Prof. Adler met Mr. Quill at the pier.', 'Both were late.'),
  abbreviation('The E.U. and the U.N. agreed.', 'Nobody objected.'),
  abbreviation('I moved to the U.S. after college.', 'It was cold.'),
  abbreviation('She works for the U.S. Senate in town.'),
  abbreviation('They live in the U.S.', 'Where do you live?'),
  abbreviation('B. K. Adams painted it.', 'We bought it.'),
  abbreviation('It was you and I.', 'Did Carl O. Berg come?'),
  abbreviation('He joined Birch Inc. in May.', 'He left Birch Inc.', 'They closed.'),
  abbreviation('Bring pens, paper, etc.', 'Bags are here.'),
  abbreviation('Use soft fruit, e.g. plums, i.e. what is ripe.', 'Wash it.'),
  abbreviation('Is it hot?', 'No.', 'I checked.'),
  abbreviation('See No. 7 on p. 12 and Fig. 3 there.', 'It helps.'),
  abbreviation('The shop opens at 8 a.m. on Mondays.', 'Come early.'),
  abbreviation('By 6 p.m. Mrs. Hale was home.', 'She slept at 9 p.m.', 'Then it rained.'),
  abbreviation('They ran 5 km.', 'She ran ten.'),
  abbreviation('We shop at Yahoo! in the evening.', 'Do you?'),
  atom('Tau is 6.2831 or so.', 'Close enough.'),
  atom('It opened in 1974.', 'People came.'),
  atom('In 2020.', '15 people came.'),
  atom('They counted 12,500 votes.', 'Done.'),
  atom('The bus leaves at 7:45 sharp.', 'Run.'),
  atom('It runs Linux 6.1.12 on 10.0.0.7 today.', 'Good.'),
  atom('Visit shop.example.net.', 'It is open.'),
  atom('Mail ann.b@post.example.net.', 'She answers.'),
  atom('Edit site.config.json and run.ts.', 'Then save.'),
  atom('Call 555.010.2030.', 'Ask for Bo.'),
  atom('Is it https://a.example/x?q=1.2&r=3!', 'It is.'),
  atom('y = 4.5 * 2 + 3.', 'Easy.'),
  atom('That costs $7.25.', 'Pay here.'),
  quote('He said, "Run!"', 'She ran.'),
  quote('"Run!" he said.', 'She ran.'),
  quote('They asked, “Now?”', 'We waited.'),
  quote('We read it (twice, in fact.) before lunch.', 'It was long.'),
  quote("He called it 'done.'", 'It was not.'),
  ellipsis('Well... maybe not.', 'Fine.'),
  ellipsis('Look...', 'A deer!'),
  ellipsis('So… what is next?', 'Sleep.'),
  ellipsis('It fell . . . and it broke.', 'Sorry.'),
  ellipsis('I said so....', 'You laughed.'),
  glued('All set.', 'Next we pack.'),
  line('# Plan', 'Pack first.'),
  line('1. Peel it.', '2. Cut it.', '3. Eat.'),
  line('- one thing', '- another thing', 'the end'),
  line('Look:', '```ts\nconst a = b. c; // No. Cut.\n```', 'That was it.'),
  line('~~~\nOne. Two.\n~~~', 'Done.'),
  list('1) First thing', '2) Second thing'),
  list('1. First thing', '2. Second thing', '3. Third thing'),
  list('a. First thing', 'b. Second thing'),
  list('• One thing', '• Another thing'),
  emoji('Well done! 🎈', 'Onwards.'),
  emoji('Well done! 👏🏽❤️', 'Onwards.'),
  emoji('It works. 👩🏽‍🚀🇯🇵', 'Onwards.'),
  emoji('Fine 🙂 and you?'),
  emoji('Hello 👩‍👩‍👦!', 'Come in.'),
  emoji('Ok 👍🏾.', 'Go.'),
  markup('Type `git add . Now` first.', 'Then commit.'),
  markup('Read [the manual](https://m.example/a. b).', 'Then start.'),
  markup('Take a <break time="1s. Yes" /> rest.', 'Go on.'),
  markup('**It is bold.**', '_It leans._', 'It is plain.'),
  markup('So it goes [1].', 'See "[...]" (Hill 4).'),
];

const cjk = (locale: string) => of(locale, { glue: '' });
const words = (locale: string, needed?: string) => of(locale, needed === undefined ? {} : { locale: needed });

const zh = cjk('zh');
const ja = cjk('ja');
const de = words('de', 'de');
const fr = words('fr', 'fr');
const es = words('es');
const it = words('it', 'it');
const nl = words('nl', 'nl');
const pl = words('pl', 'pl');
const ru = words('ru', 'ru');
const uk = words('uk', 'uk');
const bg = words('bg', 'bg');
const sk = words('sk', 'sk');
const cs = words('cs', 'cs');
const da = words('da', 'da');
const sv = words('sv', 'sv');
const kk = words('kk', 'kk');
const el = words('el', 'el');
const hy = words('hy');
const ar = words('ar');
const fa = words('fa');
const ur = words('ur');
const hi = words('hi');
const mr = words('mr');
const bn = words('bn');
const am = words('am');
const my = words('my');
const km = words('km');
const ko = words('ko');
const th = words('th');

const languages: readonly ClauseCase[] = [
  zh('早上好。', '你吃了吗？', '吃了！'),
  zh('她说：“来吧。”', '我们就去了。'),
  zh('这个用 Vue.js 3.4 写。', '不错。'),
  zh('你读过《等等！再见》吗？', '读过。'),
  zh('真的？！', '好……吧。'),
  ja('おはよう。', '元気ですか？', 'はい！'),
  ja('「行こう。」と母は言った。', '雨だ。'),
  ja('値段は３．５倍です。', '高い。'),
  ko('오늘은 맑아요.', '산책할까요?', '네!'),
  ko('버전은 2.5입니다.', '확인하세요.'),
  de('Heute ist der 7. März 2025.', 'Es schneit.'),
  de('Der 2. Versuch gelang.', 'Das war schön.'),
  de('Herr Dr. Weiß kommt ca. um drei, z. B. mit dem Zug.', 'Er bleibt.'),
  de('Wir wohnen in der Gartenstr. 8.', 'Kommen Sie!'),
  de('Sie rief: „Halt!“', 'Er blieb stehen.'),
  de('»Gut.«', 'Sie ging.'),
  fr('Ça marche ?', 'Oui !', 'Partons.'),
  fr('M. Petit habite av. Foch, n° 3.', 'Il est là.'),
  fr('« On y va ? » dit-elle.', 'Oui.'),
  es('¿Dónde está?', '¡Aquí!', 'Bien.'),
  es('El Sr. Gómez llegó.', 'La Dra. Ruiz no.'),
  it('Il sig. Verdi è qui.', 'Buongiorno!'),
  it("Ecco l'avv. Neri e la Sig.na Bo.", 'Ci vediamo mar. 4 Nov.', 'Grazie.'),
  it('Costa 1.500,00 €.', 'È caro.'),
  nl('Dhr. Bakker komt om 3 uur, d.w.z. straks.', 'Hij wacht.'),
  nl('Het werd stil.', '...en toen lachte iedereen.'),
  pl('Mieszka na ul. Krótkiej, m.in. z prof. Lisem.', 'Jest tam.'),
  pl('Przyszedł 3. Maja.', 'Potem poszedł.'),
  ru('Он живёт в г. Казань на ул. Мира.', 'Она тоже.'),
  ru('«Где ты?» – спросил он.', 'Тишина.'),
  ru('А. П. Чехов написал это.', 'Мы читали.'),
  uk('Він живе на вул. Садовій.', 'Вона тут.'),
  bg('Управлява 12 г. Симеон и печели.', 'Той е доволен.'),
  sk('Firma ABC s. r. o. rastie, napr. v Nitre.', 'To je dobre.'),
  sk('Stalo sa to 5. Marca.', 'Bol sneh.'),
  cs('Narodil se 1. ledna.', 'Byl mráz.'),
  da('Vi ses d. 4. juni kl. 5.', 'Kom nu.'),
  sv('Det kostar t.ex. tio kronor.', 'Är det dyrt?'),
  kk('Алма, алмұрт, т. б. бар.', 'Бұл жақсы.'),
  el('Πού είναι ο σταθμός;', 'Εκεί.', 'το βλέπω.'),
  hy('Բարև։', 'Ո՞ւր ես գնում:', 'Տուն։'),
  ar('أين أنت؟', 'أنا هنا.'),
  ar('نعم، بالطبع!', 'شكرا.'),
  fa('نام شما چیست؟', 'من سارا هستم.'),
  ur('یہ کتاب ہے۔', 'کیا آپ آئیں گے؟', 'جی۔'),
  hi('यह घर है।', 'क्या आप आएंगे?', 'हाँ।'),
  mr('डॉ. जोशी आले.', 'ते बसले.'),
  bn('এটা বই।', 'তুমি কি যাবে?'),
  am('ሰላም።', 'ስምህ ማን ነው፧', 'አበበ።'),
  my('မင်္ဂလာပါ။', 'သွားမလား။'),
  km('នេះជាផ្ទះ។', 'តើអ្នកទៅណា?'),
  th('ไปไหนมา ไปตลาด'),
  th('พ.ศ. 2567 เป็นปีที่ดี'),
  of('th', { glue: ' ' })('วันนี้เป็นวันที่ดีมากและอากาศก็แจ่มใสเหลือเกิน', 'พรุ่งนี้ฝนจะตก'),
  of('lo')('ສະບາຍດີ ເຈົ້າຢູ່ໃສ'),
];

export const clauseCases: readonly ClauseCase[] = [...general, ...languages];
