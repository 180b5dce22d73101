/** Keeps secrets out of everything that people or logs see: error messages, causes, warnings. */

export type Redact = (text: string) => string;

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

/** Headers for people to look at: those that carry a secret by their name say only that. */
export function shownHeaders(headers: Headers, url: URL): Record<string, string> {
  const secrets = new Set(secretsIn(headers, url));
  return Object.fromEntries([...headers].map(([name, value]) => [name, secrets.has(value) ? '[redacted]' : value]));
}

/** The same for an address: the values of query fields that carry a key by their name are hidden. */
export function shownUrl(url: URL): string {
  const shown = new URL(url);
  const secrets = new Set(secretsIn(new Headers(), url));
  for (const [name, value] of url.searchParams) if (secrets.has(value)) shown.searchParams.set(name, '[redacted]');
  return shown.href;
}
