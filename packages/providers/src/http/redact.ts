/** Keeps secrets out of everything that people or logs see: error messages, causes, warnings. */

export type Redact = (text: string) => string;

const HIDDEN = '[redacted]';
/** Shorter keys are placeholders (`x`, `EMPTY` has five); hiding one letter would only spoil the message. */
const MIN_LENGTH = 4;

/**
 * A function that hides the given secrets in a text, in each form in which a server may echo them: as they are, escaped for URLs and
 * JSON, in base64 (at any offset, so `user:key` is found too), base64url and hexadecimal.
 *
 * ```ts
 * const redact = redactor(['sk-123456']);
 * redact('Incorrect API key: sk-123456'); // 'Incorrect API key: [redacted]'
 * ```
 */
export function redactor(secrets: readonly string[]): Redact {
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

/** What is secret in a request: the values of headers and query fields that carry a key by their name, with and without a scheme. */
export function secretsIn(headers: Headers, url: URL): string[] {
  const secrets: string[] = [];
  for (const [name, value] of [...headers, ...url.searchParams]) {
    if (!/auth|key|token|secret|cookie|credential|password|signature/i.test(name)) continue;
    secrets.push(value);
    const space = value.indexOf(' ');
    if (space > 0) secrets.push(value.slice(space + 1).trim());
  }
  return secrets;
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
  let binary = '\0'.repeat(offset);
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const first = Math.ceil((offset * 8) / 6);
  const last = Math.floor(((offset + bytes.length) * 8) / 6);
  return btoa(binary).slice(first, last);
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
