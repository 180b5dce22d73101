// Speaking a text at once, and what every answer of a voice must be.
import { defined } from '../data/defined.js';
import { isRecord } from '../data/json.js';
import type { AudioPart } from '../data/parts.js';
import { wholeNumber } from '../data/rules.js';
import { AdapterError } from '../errors.js';
import { audio } from './nested-rules.js';
import { isOwnModel, malformed, refuseUnsupported } from './refusals.js';
import { type Call, type Runtime, runCall } from './run-call.js';
import {
  SPEECH_FORMATS,
  type Speak,
  type Speech,
  type SpeechAdapter,
  type SpeechFormat,
  type SpeechOutcome,
  type SpeechSettings,
  type SpokenWord,
  speechRequest,
} from './speech.js';

export function speakWith(adapter: SpeechAdapter, runtime: Runtime): Speak {
  return async (input, options = {}) => {
    const request = speechRequest('speak', input, options);
    let speech: Partial<Speech> = {};
    const work = async (call: Call) => {
      refuseSpeech(adapter, request);
      await call.send(
        context => adapter.speak(request, context),
        answer => {
          speech = readSpeech(answer, adapter.provider, request.timestamps === true);
          checkWords(speech, request, adapter.provider);
        },
      );
    };
    return runCall({ method: 'speak', adapter, request }, options, runtime, work, () => speech) as Promise<SpeechOutcome>;
  };
}

/** Refuses what the adapter says that it cannot do. */
export function refuseSpeech(
  adapter: SpeechAdapter,
  request: SpeechSettings & { readonly text?: string },
  more: readonly (string | false)[] = [],
): void {
  const { formats, maxTextChars = Number.POSITIVE_INFINITY, unsupported = [], provider } = adapter;
  const { format } = request;
  // A UTF-16 length is never below the number of code points, so that most texts need no count.
  const isLong = request.text !== undefined && request.text.length > maxTextChars && isOwnModel(adapter, request);
  const long = isLong ? [...(request.text as string)].length : 0;
  if (long > maxTextChars) {
    const message = `${provider}: the text has ${long} characters, and it takes ${maxTextChars} at once. Nothing was sent.`;
    throw new AdapterError('context_length_exceeded', message, { provider });
  }
  refuseUnsupported(provider, [
    ...more,
    format !== undefined && formats !== undefined && !formats.includes(format) && `it cannot give ${format}, only ${formats.join(', ')}`,
    request.timestamps === true && !adapter.timestamps && 'it cannot tell the times of words (timestamps)',
    ...unsupported.map(setting => request[setting] !== undefined && `it has no setting for ${setting}`),
  ]);
}

function readSpeech(answer: Record<string, unknown>, provider: string, timestamps: boolean): Speech {
  const { format, sampleRate, words } = answer;
  const fault = audio[1](answer.audio);
  if (fault !== true && (fault === false || fault.length > 0)) throw malformed(provider, 'the answer has no audio part with sound in it');
  const part = answer.audio as AudioPart;
  checkAbout({ mediaType: part.mediaType, format, sampleRate }, provider);
  return {
    audio: part,
    ...defined({ format: format as SpeechFormat | undefined, sampleRate: sampleRate as number | undefined }),
    // Times that were not asked for are left out, so that nobody comes to rely on them.
    ...(timestamps && words !== undefined ? { words: readWords(words, provider) } : {}),
  };
}

/** Throws for a description of sound that cannot be right, or that does not say what is needed to play it. */
export function checkAbout(about: Record<string, unknown>, provider: string): void {
  const { mediaType, format, sampleRate } = about;
  if (typeof mediaType !== 'string' || mediaType === '') throw malformed(provider, 'the sound has no media type');
  if (format !== undefined && !SPEECH_FORMATS.includes(format as SpeechFormat))
    throw malformed(provider, 'the sound has an unknown format');
  if (sampleRate !== undefined && wholeNumber[1](sampleRate) !== true) throw malformed(provider, 'the sample rate is no number of Hz');
  const raw = format === 'pcm' || format === 'ulaw' || format === 'alaw';
  if (raw && sampleRate === undefined) throw malformed(provider, `the sample rate of the ${format} sound is not told`);
}

export function readWords(words: unknown, provider: string): SpokenWord[] {
  const isWord = (word: unknown) =>
    isRecord(word) &&
    typeof word.text === 'string' &&
    isTime(word.startMs) &&
    isTime(word.endMs) &&
    (word.endMs as number) >= (word.startMs as number);
  if (!Array.isArray(words) || !words.every(isWord)) throw malformed(provider, 'the times of words are not { text, startMs, endMs }');
  return words as SpokenWord[];
}

/** Asked for and not there is an error, with the sound kept: it was paid for. */
export function checkWords(speech: Partial<Speech>, request: SpeechSettings, provider: string): void {
  if (request.timestamps === true && speech.words === undefined) {
    throw new AdapterError('unsupported', `${provider}: the times of words were asked for and did not come.`, { provider });
  }
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
}
