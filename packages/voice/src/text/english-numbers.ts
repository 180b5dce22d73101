/** Numbers in English words, as far as money and units need them. */
const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = '_ _ twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const SCALES: ReadonlyArray<readonly [number, string]> = [
  [1e12, 'trillion'],
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
  [100, 'hundred'],
];

/** `1250` → `one thousand two hundred fifty`. `value` is a whole number from 0 to 999 trillion. */
function cardinal(value: number): string {
  if (value < 20) return SMALL[value]!;
  for (const [scale, name] of SCALES) {
    if (value < scale) continue;
    const rest = value % scale;
    return `${cardinal(Math.floor(value / scale))} ${name}${rest ? ` ${cardinal(rest)}` : ''}`;
  }
  const ones = value % 10;
  return TENS[Math.floor(value / 10)]! + (ones ? `-${SMALL[ones]}` : '');
}

/** `3.05` → `three point zero five`; thousands may be grouped with commas. Digits it cannot read come back unchanged. */
export function spokenNumber(digits: string): string {
  const [whole = '', fraction] = digits.replaceAll(',', '').split('.');
  if (!/^\d{1,15}$/.test(whole)) return digits;
  const words = cardinal(Number(whole));
  if (!fraction) return words;
  return `${words} point ${[...fraction].map(digit => SMALL[Number(digit)]).join(' ')}`;
}

/** `10` → `10th`. */
export function ordinalDigits(value: number): string {
  const teen = value % 100 >= 11 && value % 100 <= 13;
  return value + (teen ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th'));
}
