const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Nine letters and digits (53 bits) from a text, which every server takes: two rounds of FNV-1a with different beginnings. */
export function shortId(text: string): string {
  let number = fnv1a(text, 0x811c9dc5) * 0x20_0000 + (fnv1a(text, 0x01000193) >>> 11);
  let id = '';
  for (let i = 0; i < 9; i++) {
    id += ALPHABET.charAt(number % ALPHABET.length);
    number = Math.floor(number / ALPHABET.length);
  }
  return id;
}

function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
