// Keeps secrets out of everything that people or logs see.
import { binaryText } from '../data/bytes.js';
import { AdapterError } from '../errors.js';

const HIDDEN = '[redacted]';
/** Shorter keys are placeholders such as `x`; hiding one letter would only spoil the message. */
const MIN_LENGTH = 4;

/**
 * A function that hides the given secrets in a text, in each form in which a server may echo them: as they are, escaped for URLs and
 * JSON, in base64 (at any offset, so `user:key` is found too), base64url and hexadecimal.
 *
 * ```ts
 * const hide = redactor(['sk-123456']);
 * hide('Incorrect API key: sk-123456'); // 'Incorrect API key: [redacted]'
 * ```
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set<string>();
  for (const secret of secrets) if (secret.length >= MIN_LENGTH) for (const form of formsOf(secret)) forms.add(form);
  // The longest first: a form may contain another.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  if (ordered.length === 0) return text => text;
  return text => {
    let clean = text;
    for (const form of ordered) if (clean.includes(form)) clean = clean.replaceAll(form, HIDDEN);
    return clean;
  };
}

/**
 * The same value without the secrets, in any form that `redactor` knows: texts, headers, plain objects and lists of any depth (copied only when
 * they hold a secret), and errors, which are changed where they stand: message, stack, causes and every field. Instead of the secrets it takes
 * a redactor that is already made.
 *
 * ```ts
 * redact({ message: 'key sk-123456' }, ['sk-123456']); // { message: 'key [redacted]' }
 * ```
 */
export function redact<T>(value: T, secrets: readonly string[] | ((text: string) => string)): T {
  return clean(value, typeof secrets === 'function' ? secrets : redactor(secrets), new Map()) as T;
}

function clean(value: unknown, hide: (text: string) => string, seen: Map<object, unknown>): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  seen.set(value, value);
  if (value instanceof Error) return cleanError(value, hide, seen);
  if (value instanceof Headers) return new Headers([...value].map(([name, text]) => [name, hide(text)]));
  if (Array.isArray(value)) {
    const items = value.map(item => clean(item, hide, seen));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const entry = [hide(key), clean(item, hide, seen)] as const;
    if (entry[0] !== key || entry[1] !== item) changed = true;
    return entry;
  });
  return changed ? Object.fromEntries(entries) : value;
}

function cleanError(error: Error, hide: (text: string) => string, seen: Map<object, unknown>): Error {
  try {
    for (const key of new Set(['message', ...Object.getOwnPropertyNames(error)])) {
      const value: unknown = Reflect.get(error, key);
      const hidden = clean(value, hide, seen);
      if (hidden === value) continue;
      const enumerable = Object.getOwnPropertyDescriptor(error, key)?.enumerable ?? false;
      Object.defineProperty(error, key, { value: hidden, enumerable, configurable: true, writable: true });
    }
    return error;
  } catch {
    // It cannot be changed, so it must not be passed on.
    return new AdapterError('unknown', hide(error.message));
  }
}

function formsOf(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const forms = [secret, JSON.stringify(secret).slice(1, -1), hex(bytes), hex(bytes).toUpperCase()];
  const percent = percentEncode(secret);
  forms.push(
    percent,
    percent.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
  );
  for (let offset = 0; offset < 3; offset++) {
    const form = base64At(bytes, offset);
    if (form.length >= MIN_LENGTH) forms.push(form, form.replaceAll('+', '-').replaceAll('/', '_'), percentEncode(form));
  }
  return forms;
}

/** The base64 characters that stand wholly for the secret when it begins `offset` bytes after a multiple of three. */
function base64At(bytes: Uint8Array, offset: number): string {
  const first = Math.ceil((offset * 8) / 6);
  const last = Math.floor(((offset + bytes.length) * 8) / 6);
  return btoa('\0'.repeat(offset) + binaryText(bytes)).slice(first, last);
}

/** Like encodeURIComponent, which throws on half a surrogate pair. */
function percentEncode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}
