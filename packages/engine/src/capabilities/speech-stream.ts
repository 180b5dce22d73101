import { defined } from '../data/defined.js';
import { isRecord } from '../data/json.js';
import { audioPart } from '../data/parts.js';
import { shown } from '../data/rules.js';
import { AdapterError, ValidationError } from '../errors.js';
import type { RetryEvent, WarningEvent } from '../events/events.js';
import { Feed } from './feed.js';
import { malformed } from './refusals.js';
import type { Call } from './run-call.js';
import { runStream, type StreamContext, type StreamKind } from './run-stream.js';
import { checkAbout, checkWords, readWords, refuseSpeech } from './speak.js';
import type {
  Speech,
  SpeechAbout,
  SpeechAdapter,
  SpeechAdapterEvent,
  SpeechOutcome,
  SpeechRequest,
  SpeechSettings,
  SpokenWord,
  TextInPieces,
} from './speech.js';

type SpeechRun = AsyncGenerator<SpeechAdapterEvent | RetryEvent, SpeechOutcome>;

/** Speaks a text, piece by piece. */
export function runSpeech(adapter: SpeechAdapter, request: SpeechRequest, context: StreamContext): SpeechRun {
  return runStream({ method: 'streamSpeech', adapter, request }, context, call => ({
    ...speechKind(call, request),
    gate: () => refuseSpeech(adapter, request, [!adapter.streamSpeech && 'it cannot stream speech']),
    open: context => adapter.streamSpeech!(request, context),
  }));
}

/** Speaks a text while it is written. */
export function runSpeechFromText(
  adapter: SpeechAdapter,
  source: TextInPieces,
  settings: SpeechSettings,
  context: StreamContext,
): SpeechRun {
  return runStream({ method: 'streamSpeechFromText', adapter, request: settings }, context, call => {
    let blank = true;
    const read = (piece: unknown): string[] => {
      const text = typeof piece === 'string' ? piece : textOfEvent(piece);
      if (text === undefined) {
        throw new ValidationError('invalid_request', `The text to speak came as ${shown(piece)}; its pieces must be strings.`);
      }
      blank &&= text.trim() === '';
      return text === '' ? [] : [text];
    };
    const end = (): string[] => {
      if (!blank) return [];
      throw new AdapterError('invalid_request', 'The text ended without a word to speak.', { provider: adapter.provider });
    };
    const feed = new Feed(source, read, end, call);
    return {
      ...speechKind(call, settings),
      feed,
      gate: () => refuseSpeech(adapter, settings, [!adapter.streamSpeechFromText && 'it cannot speak a text while it is written']),
      open: (context, watchdog) => adapter.streamSpeechFromText!(settings, watchdog.input(feed.items), context),
    };
  });
}

/** What is to be spoken of an event of a run; undefined for what is no event. Throws when the run failed: half an answer is no success. */
function textOfEvent(piece: unknown): string | undefined {
  if (!isRecord(piece) || typeof piece.type !== 'string') return undefined;
  if (piece.type === 'text_delta') return typeof piece.delta === 'string' ? piece.delta : undefined;
  // The words of two blocks must not run together.
  if (piece.type === 'text_end') return '\n';
  if (piece.type !== 'end' || !isRecord(piece.outcome)) return '';
  const { status, reason, error } = piece.outcome;
  if (status === 'failed') throw error;
  if (reason === 'aborted') throw new AdapterError('truncated', 'The run whose text was spoken was stopped before its end.');
  return '';
}

/** Reads the events of one stream, and puts the sound together. */
function speechKind(call: Call, settings: SpeechSettings): Omit<StreamKind<SpeechAdapterEvent>, 'gate' | 'open'> {
  const { provider } = call;
  const pieces: Uint8Array[] = [];
  let about: SpeechAbout | undefined;
  // Times that were not asked for do not reach the outcome, so that nobody comes to rely on them.
  const words: SpokenWord[] = [];
  const speech = (): Partial<Speech> => ({
    ...(about && pieces.length > 0 ? { audio: audioPart(joined(pieces), about.mediaType) } : {}),
    ...defined({ format: about?.format, sampleRate: about?.sampleRate }),
    ...(settings.timestamps === true && words.length > 0 ? { words } : {}),
  });
  const accept = (event: Exclude<SpeechAdapterEvent, WarningEvent>): boolean => {
    if (event.type === 'speech_start') {
      if (about) throw malformed(provider, 'the sound begins twice');
      const { mediaType, format, sampleRate } = event;
      checkAbout({ mediaType, format, sampleRate }, provider);
      about = event;
      return false;
    }
    if (!about) throw malformed(provider, `"${event.type}" came before speech_start`);
    switch (event.type) {
      case 'audio_delta':
        if (!(event.bytes instanceof Uint8Array) || event.bytes.length === 0) throw malformed(provider, 'a piece of sound has no bytes');
        pieces.push(event.bytes);
        return false;
      case 'words':
        words.push(...readWords(event.words, provider));
        return false;
      case 'speech_end':
        if (pieces.length === 0) throw malformed(provider, 'the sound ended before it began');
        call.add(event as unknown as Record<string, unknown>);
        return true;
      default:
        throw malformed(provider, `the adapter yielded the unknown event ${shown((event as { type: unknown }).type)}`);
    }
  };
  return {
    accept,
    isContent: ({ type }) => type === 'audio_delta',
    finish: () => checkWords(words.length > 0 ? { words } : {}, settings, provider),
    content: speech,
  };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
