// Rules for what a request holds: lists, pictures, sound.
import { isRecord } from '../data/json.js';
import type { AudioPart, ImagePart } from '../data/parts.js';
import { type Rule, type Rules, text } from '../data/rules.js';
import type { Issue } from '../errors.js';
import { issuesOf } from './checks.js';

/** A list with at least one member, each of which passes. */
export const listOf = ([words, test]: Rule, name: string): Rule => [
  'a list',
  value => {
    if (!Array.isArray(value)) return false;
    if (value.length === 0) return [{ path: '', reason: `must hold at least one ${name}` }];
    return Array.from(value, (member: unknown, i) => issuesOf(test(member), member, `[${i}]`, words)).flat();
  },
];

/** The faults of a value's fields, for a rule about an object. */
export function fieldIssues(value: Record<string, unknown>, rules: Rules, required: readonly string[]): readonly Issue[] {
  const issues = Object.entries(rules).flatMap(([key, [words, test]]) =>
    value[key] === undefined ? [] : issuesOf(test(value[key]), value[key], `.${key}`, words),
  );
  for (const key of required) if (value[key] === undefined) issues.push({ path: `.${key}`, reason: `must be ${rules[key]?.[0]}` });
  return issues;
}

const mediaOf = (kind: string): Rule => [
  `a media type such as ${kind}`,
  value => typeof value === 'string' && /^[\w.+-]+\/[\w.+-]+(;.*)?$/.test(value),
];
const base64: Rule = [
  'base64 text that is not empty',
  value =>
    typeof value === 'string' &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(value) &&
    // Four characters are three bytes; the padding may be left out.
    (value.endsWith('=') ? value.length % 4 === 0 : value.length % 4 !== 1),
];

export const image: Rule = [
  'an image such as imagePart(bytes, "image/png")',
  value => {
    if (!isRecord(value) || value.type !== 'image') return false;
    const issues = fieldIssues(value, { mediaType: mediaOf('image/png'), data: base64, url: text }, ['mediaType']);
    return value.data === undefined && value.url === undefined ? [...issues, { path: '.data', reason: 'or .url must be there' }] : issues;
  },
];

export const audio: Rule = [
  'sound such as audioPart(bytes, "audio/wav")',
  value => {
    if (!isRecord(value) || value.type !== 'audio') return false;
    return fieldIssues(value, { mediaType: mediaOf('audio/wav'), data: base64 }, ['mediaType', 'data']);
  },
];

/** Bytes behind base64 text. */
export function byteLength({ data }: AudioPart | (ImagePart & { readonly data: string })): number {
  return Math.floor((data.replace(/=+$/, '').length * 3) / 4);
}
