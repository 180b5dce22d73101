/**
 * What a voice should say for figures and abbreviations in English text: money, units, dates, telephone numbers, titles. Bare
 * numbers stay digits. Every pattern is bounded, so the work is linear.
 */
import { ordinalDigits, spokenNumber } from './english-numbers.js';

type Replacement = readonly [RegExp, (...groups: string[]) => string];

const NUMBER = String.raw`(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,10})?`;
/** A figure begins where no other one, nor a word, goes on. */
const BEGIN = String.raw`(?<![\p{L}\p{N}_.,/:-])`;
const END = String.raw`(?![\p{L}\p{N}_]|[.,:/-]\p{N})`;

const CURRENCIES: Readonly<Record<string, readonly [string, string, string, string]>> = {
  $: ['dollar', 'dollars', 'cent', 'cents'],
  '€': ['euro', 'euros', 'cent', 'cents'],
  '£': ['pound', 'pounds', 'penny', 'pence'],
  '¥': ['yen', 'yen', '', ''],
  '₹': ['rupee', 'rupees', 'paisa', 'paise'],
};
const MULTIPLES: Readonly<Record<string, string>> = { k: 'thousand', m: 'million', b: 'billion', bn: 'billion', t: 'trillion' };

function money(symbol: string, amount: string, multiple: string): string {
  const [one, many, smallOne, smallMany] = CURRENCIES[symbol]!;
  const factor = multiple.trim().toLowerCase();
  if (factor) return `${spokenNumber(amount)} ${MULTIPLES[factor] ?? factor} ${many}`;
  const [whole = '0', fraction = ''] = amount.split('.');
  const dollars = `${spokenNumber(whole)} ${whole === '1' ? one : many}`;
  if (fraction === '' || (smallOne && fraction === '00')) return dollars;
  if (fraction.length !== 2 || !smallOne) return `${spokenNumber(amount)} ${many}`;
  const cents = `${spokenNumber(String(Number(fraction)))} ${fraction === '01' ? smallOne : smallMany}`;
  return whole === '0' ? cents : `${dollars} and ${cents}`;
}

const UNITS: Readonly<Record<string, readonly [string, string]>> = {
  km: ['kilometer', 'kilometers'],
  cm: ['centimeter', 'centimeters'],
  mm: ['millimeter', 'millimeters'],
  kg: ['kilogram', 'kilograms'],
  mg: ['milligram', 'milligrams'],
  ml: ['milliliter', 'milliliters'],
  lb: ['pound', 'pounds'],
  lbs: ['pound', 'pounds'],
  oz: ['ounce', 'ounces'],
  ft: ['foot', 'feet'],
  mph: ['mile per hour', 'miles per hour'],
  'km/h': ['kilometer per hour', 'kilometers per hour'],
  kB: ['kilobyte', 'kilobytes'],
  KB: ['kilobyte', 'kilobytes'],
  MB: ['megabyte', 'megabytes'],
  GB: ['gigabyte', 'gigabytes'],
  TB: ['terabyte', 'terabytes'],
  Hz: ['hertz', 'hertz'],
  kHz: ['kilohertz', 'kilohertz'],
  MHz: ['megahertz', 'megahertz'],
  GHz: ['gigahertz', 'gigahertz'],
  kW: ['kilowatt', 'kilowatts'],
  kWh: ['kilowatt hour', 'kilowatt hours'],
  ms: ['millisecond', 'milliseconds'],
  min: ['minute', 'minutes'],
  '°C': ['degree Celsius', 'degrees Celsius'],
  '°F': ['degree Fahrenheit', 'degrees Fahrenheit'],
  '°': ['degree', 'degrees'],
  '%': ['percent', 'percent'],
};
const UNIT_NAMES = Object.keys(UNITS)
  .sort((a, b) => b.length - a.length)
  .join('|');

function quantity(number: string, unit: string): string {
  const [one, many] = UNITS[unit]!;
  return `${spokenNumber(number)} ${number === '1' ? one : many}`;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

function isoDate(year: string, month: string, day: string): string {
  const name = MONTHS[Number(month) - 1];
  const days = month === '02' ? 29 : ['04', '06', '09', '11'].includes(month) ? 30 : 31;
  if (!name || Number(day) < 1 || Number(day) > days) return `${year}-${month}-${day}`;
  return `${name} ${ordinalDigits(Number(day))}, ${year}`;
}

const digitGroups = (...groups: string[]) =>
  groups
    .filter(group => group)
    .map(group => [...group].join(' '))
    .join(', ');

const TITLES: Readonly<Record<string, string>> = {
  Dr: 'Doctor',
  Mr: 'Mister',
  Mrs: 'Missus',
  Ms: 'Miz',
  Prof: 'Professor',
  Gen: 'General',
  Sgt: 'Sergeant',
  Capt: 'Captain',
  Lt: 'Lieutenant',
  Rev: 'Reverend',
  Gov: 'Governor',
  Sen: 'Senator',
  Rep: 'Representative',
};
const SAID: Readonly<Record<string, string>> = { 'e.g.': 'for example', 'i.e.': 'that is', 'vs.': 'versus', 'approx.': 'approximately' };

const REPLACEMENTS: readonly Replacement[] = [
  [new RegExp(`${BEGIN}(\\d{4})-(\\d{2})-(\\d{2})${END}`, 'gu'), isoDate],
  [new RegExp(`${BEGIN}(?:\\+?(\\d{1,3})[ .-])?\\(?(\\d{3})\\)?[ .-](\\d{3})[.-](\\d{4})${END}`, 'gu'), digitGroups],
  [new RegExp(`(?<![\\p{L}\\p{N}])([$€£¥₹])(${NUMBER})((?: (?:thousand|million|billion|trillion)|[kKmMbBtT]|bn)\\b)?${END}`, 'gu'), money],
  [new RegExp(`${BEGIN}(${NUMBER}) ?(${UNIT_NAMES})(?![\\p{L}\\p{N}_])`, 'gu'), quantity],
  [/\b(Dr|Mrs?|Ms|Prof|Gen|Sgt|Capt|Lt|Rev|Gov|Sen|Rep)\.(?= (?:\p{Lu}|and ))/gu, title => TITLES[title]!],
  [/(?<![\p{L}\p{N}.])(e\.g\.|i\.e\.|vs\.|approx\.)(?=,? )/gu, word => SAID[word]!],
  [/\bNo\.(?= ?\d)/gu, () => 'number'],
];

export function speakEnglish(text: string): string {
  let spoken = text;
  for (const [pattern, say] of REPLACEMENTS) spoken = spoken.replace(pattern, (...match) => say(...groupsOf(match)));
  return spoken;
}

/** The captured groups of a `replace` callback's arguments; one that took no part is ''. */
function groupsOf(match: readonly unknown[]): string[] {
  const end = match.findIndex((part, index) => index > 0 && typeof part === 'number');
  return match.slice(1, end).map(group => (typeof group === 'string' ? group : ''));
}
