import { isRecord } from '@antiphon/engine';

/** What the models of one family take and tell: data, so that a new family is a row. */
interface TranscriptionFamily {
  /** Times of words. */
  readonly times: boolean;
  readonly logprobs: boolean;
  /** Live, a segment can be ended by a pause that the server hears. */
  readonly pauses: boolean;
  readonly prompt: boolean;
  /** The field for the expected language; the other one is ignored in silence. */
  readonly language: 'language' | 'languages';
}

/** A server of one's own mostly runs a Whisper, whatever its name is. */
const WHISPER: TranscriptionFamily = { times: true, logprobs: false, pauses: true, prompt: true, language: 'language' };
const GPT: TranscriptionFamily = { ...WHISPER, times: false };
const GPT_TRANSCRIBE: TranscriptionFamily = { ...GPT, language: 'languages' };

/** How a name begins and what it holds; the first that fits counts. */
const FAMILIES: readonly (readonly [begins: string, holds: string, TranscriptionFamily])[] = [
  ['gpt-live-transcribe', '', { ...GPT_TRANSCRIBE, pauses: false }],
  ['gpt-transcribe', '', GPT_TRANSCRIBE],
  ['gpt-realtime-whisper', '', { ...GPT, pauses: false, prompt: false }],
  ['gpt-', 'diarize', { ...GPT, prompt: false }],
  ['gpt-4o-', 'transcribe', { ...GPT, logprobs: true }],
  ['gpt-', '', GPT],
];

/** The family of a model by its name. */
export function familyOf(model: string): TranscriptionFamily {
  return FAMILIES.find(([begins, holds]) => model.startsWith(begins) && model.includes(holds))?.[2] ?? WHISPER;
}

/** ISO 639-1: it knows languages, not regions. */
export function languageOf(tag: string): string {
  return tag.split('-')[0]!.toLowerCase();
}

/** The language of an answer: Whisper names one, the newest models list the codes of all that they heard. */
export function languageIn({ language, languages }: Record<string, unknown>): { readonly language?: string } {
  const first: unknown = Array.isArray(languages) ? languages[0] : undefined;
  const told = isRecord(first) ? first.code : language;
  return typeof told === 'string' ? { language: told } : {};
}
