/** What a voice should say for a text written for the eye. Works on a clause and on a whole reply alike. */
import { speakEnglish } from './english-speech.js';
import { withoutMarkup } from './markup.js';

export interface SpeakableOptions {
  /** BCP 47 tag. English (also the default) gets its figures in words; other languages keep their digits. */
  readonly locale?: string;
  /** A bare URL is skipped, or spelled: `x dot y`, e-mail addresses too. Default `skip`. */
  readonly urls?: 'skip' | 'spell';
  /** Code fences and tables are skipped, or announced. Default `skip`. */
  readonly code?: 'skip' | 'announce';
  /** What `code: 'announce'` says. Default `code on screen`. */
  readonly announcement?: string;
}

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/**
 * Turns markdown, HTML, code, URLs, emoji and, in English, figures and titles into words. A text without a letter or digit left
 * gives '', which is never to be sent to synthesis. Takes any string; linear in its length.
 *
 * @throws {TypeError} when `text` is not a string
 *
 * @example
 * speakable('✅ **Done** — see [the guide](https://example.com), it costs $42.50.');
 * // 'Done — see the guide, it costs forty-two dollars and fifty cents.'
 */
export function speakable(text: string, options: SpeakableOptions = {}): string {
  if (typeof text !== 'string') throw new TypeError(`speakable() takes a string, not ${text === null ? 'null' : typeof text}.`);
  const { locale = 'en', urls = 'skip', code = 'skip', announcement = 'code on screen' } = options;
  const plain = withoutMarkup(text, { urls, announcement: code === 'announce' ? announcement : '' });
  const spoken = /^en(?:[-_]|$)/i.test(locale) ? speakEnglish(plain) : plain;
  return LETTER_OR_DIGIT.test(spoken) ? spoken : '';
}
