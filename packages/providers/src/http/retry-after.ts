// How long a server asks us to wait, in the headers and the words that servers use for it.
import { isRecord } from '@antiphon/engine';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * Milliseconds to wait, never negative; undefined when the server does not say. Reads `retry-after-ms`, then `retry-after` as seconds or
 * as an HTTP date (RFC 9110 § 10.2.3), which is compared with `wallTime` (milliseconds since 1970).
 *
 * ```ts
 * retryAfterMs(new Headers({ 'retry-after': '2' }), clock.wallTime()); // 2000
 * ```
 */
export function retryAfterMs(headers: Headers, wallTime: number): number | undefined {
  const ms = amount(headers.get('retry-after-ms'));
  if (ms !== undefined) return ms;
  const header = headers.get('retry-after');
  const seconds = amount(header);
  if (seconds !== undefined) return seconds * 1000;
  const date = header === null ? undefined : parseHttpDate(header);
  return date === undefined ? undefined : Math.max(0, date - wallTime);
}

/** A duration in Google's JSON forms, `34.5s` and `{ seconds: 34, nanos: 500000000 }`, in whole milliseconds. */
export function durationMs(duration: unknown): number | undefined {
  if (isRecord(duration)) {
    const { seconds = 0, nanos = 0 } = duration;
    const ms = Number(seconds) * 1000 + Number(nanos) / 1e6;
    return ms > 0 ? Math.ceil(ms) : undefined;
  }
  if (typeof duration !== 'string' || !duration.endsWith('s')) return undefined;
  const seconds = amount(duration.slice(0, -1));
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}

/** What OpenAI and Groq write into a message, such as `try again in 1m2.5s` or `in 20 seconds`, in milliseconds. */
export function waitInWords(message: string): number | undefined {
  const [, hours = 0, minutes = 0, amount = 0, unit] =
    /\btry again in (?:(\d{1,3})h)?(?:(\d{1,3})m(?!s))?(?:(\d{1,6}(?:\.\d{1,6})?) ?(ms|s|seconds?)\b)?/i.exec(message) ?? [];
  const seconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(amount) / (unit === 'ms' ? 1000 : 1);
  return seconds === 0 ? undefined : seconds * 1000;
}

/**
 * An HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`, or the two obsolete forms) as milliseconds since 1970; undefined when it is none.
 * Written out because the platform's parser accepts far more than dates, and time zones with it.
 */
export function parseHttpDate(text: string): number | undefined {
  const words = text.trim().toLowerCase().replaceAll('-', ' ').split(/[ ,]+/);
  // asctime has the year last: Sun Nov  6 08:49:37 1994
  const asctime = words.length === 5 && MONTHS.includes(words[1] ?? '');
  const [day, month, year, time] = asctime ? [words[2], words[1], words[4], words[3]] : words.slice(1);
  const monthIndex = MONTHS.indexOf(month ?? '');
  const clock = /^(\d{2}):(\d{2}):(\d{2})$/.exec(time ?? '');
  const d = whole(day);
  let y = whole(year);
  if (monthIndex < 0 || !clock || d === undefined || y === undefined || d < 1 || d > 31) return undefined;
  if (y < 100) y += y < 70 ? 2000 : 1900;
  const [h, m, s] = [Number(clock[1]), Number(clock[2]), Number(clock[3])];
  if (h > 23 || m > 59 || s > 60) return undefined;
  return (((daysSince1970(y, monthIndex + 1, d) * 24 + h) * 60 + m) * 60 + s) * 1000;
}

/** Days in the Gregorian calendar; years are counted from March so that the leap day comes last. */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return y * 365 + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + dayOfYear - 719_468;
}

function whole(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,4}$/.test(text) ? Number(text) : undefined;
}

function amount(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
