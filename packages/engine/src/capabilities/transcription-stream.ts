import { defined } from '../data/defined.js';
import { shown } from '../data/rules.js';
import { AdapterError, ValidationError } from '../errors.js';
import type { RetryEvent, WarningEvent } from '../events/events.js';
import { Feed } from './feed.js';
import { malformed } from './refusals.js';
import type { Call } from './run-call.js';
import { runStream, type StreamContext, type StreamKind } from './run-stream.js';
import { checkSpans, readSpans, refuseTranscription, wantsSpans } from './transcribe.js';
import type {
  StreamTranscriptionRequest,
  Transcript,
  TranscriptionAdapter,
  TranscriptionAdapterEvent,
  TranscriptionOutcome,
  TranscriptSpan,
} from './transcription.js';

/** Writes down what is said while it is said. */
export function runTranscription(
  adapter: TranscriptionAdapter,
  source: AsyncIterable<unknown> | Iterable<unknown>,
  request: StreamTranscriptionRequest,
  context: StreamContext,
): AsyncGenerator<TranscriptionAdapterEvent | RetryEvent, TranscriptionOutcome> {
  return runStream({ method: 'streamTranscription', adapter, request }, context, call => {
    const samples = new WholeSamples(request, adapter.provider);
    const feed = new Feed(
      source,
      piece => samples.read(piece),
      () => samples.end(),
      call,
    );
    const { sampleRates } = adapter;
    const rate = sampleRates !== undefined && !sampleRates.includes(request.sampleRate);
    return {
      ...transcriptionKind(call, request),
      feed,
      gate: () =>
        refuseTranscription(adapter, request, [
          !adapter.streamTranscription && 'it cannot transcribe sound while it comes',
          rate && `it does not take ${request.sampleRate} Hz, only ${sampleRates.join(', ')}`,
        ]),
      open: (context, watchdog) => adapter.streamTranscription!(request, watchdog.input(feed.items), context),
    };
  });
}

/** Passes bytes on in whole samples of two bytes, whatever the pieces are. */
class WholeSamples {
  readonly #request: StreamTranscriptionRequest;
  readonly #provider: string;
  #odd: number | undefined;
  #any = false;

  constructor(request: StreamTranscriptionRequest, provider: string) {
    this.#request = request;
    this.#provider = provider;
  }

  read(piece: unknown): (Uint8Array | 'commit')[] {
    if (piece === 'commit') {
      if (this.#request.commit === 'manual') return [piece];
      throw new ValidationError('invalid_request', "A 'commit' came in the sound, but commit is 'vad': say commit: 'manual'.");
    }
    if (!(piece instanceof Uint8Array)) {
      throw new ValidationError('invalid_request', `The sound came as ${shown(piece)}; its pieces must be Uint8Array.`);
    }
    if (piece.length === 0) return [];
    this.#any = true;
    const whole = this.#odd === undefined ? piece : prefixed(this.#odd, piece);
    this.#odd = whole.length % 2 === 1 ? whole.at(-1) : undefined;
    const even = whole.subarray(0, whole.length - (whole.length % 2));
    return even.length === 0 ? [] : [even];
  }

  end(): never[] {
    if (this.#odd !== undefined) {
      throw new AdapterError('invalid_request', 'The sound ended in the middle of a sample: 16-bit samples have two bytes each.', {
        provider: this.#provider,
      });
    }
    if (!this.#any) throw new AdapterError('invalid_request', 'The sound ended before it began.', { provider: this.#provider });
    return [];
  }
}

function prefixed(first: number, rest: Uint8Array): Uint8Array {
  const whole = new Uint8Array(rest.length + 1);
  whole[0] = first;
  whole.set(rest, 1);
  return whole;
}

/** Reads the events of one stream, and puts the transcript together. */
function transcriptionKind(call: Call, request: StreamTranscriptionRequest): Omit<StreamKind<TranscriptionAdapterEvent>, 'gate' | 'open'> {
  const { provider } = call;
  const committed: string[] = [];
  const spans: TranscriptSpan[] = [];
  let begun = false;
  let partial = '';
  let language: string | undefined;
  let durationMs: number | undefined;
  const transcript = (): Transcript => ({
    text: committed.join(' '),
    ...defined({ language, durationMs }),
    ...(wantsSpans(request) ? { spans } : {}),
  });
  const accept = (event: Exclude<TranscriptionAdapterEvent, WarningEvent>): boolean => {
    if (event.type === 'transcription_start') {
      if (begun) throw malformed(provider, 'the transcript begins twice');
      begun = true;
      return false;
    }
    if (!begun) throw malformed(provider, `"${event.type}" came before transcription_start`);
    switch (event.type) {
      case 'partial_transcript':
        partial = textOf(event.text, provider);
        return false;
      case 'committed_transcript': {
        partial = '';
        const said = textOf(event.text, provider).trim();
        if (said !== '') committed.push(said);
        if (typeof event.language === 'string') language ??= event.language;
        if (event.spans !== undefined && wantsSpans(request)) spans.push(...readSpans(event.spans, request, provider));
        return false;
      }
      case 'transcription_end':
        call.add(event as unknown as Record<string, unknown>);
        if (typeof event.durationMs === 'number' && Number.isFinite(event.durationMs)) durationMs = event.durationMs;
        return true;
      default:
        throw malformed(provider, `the adapter yielded the unknown event ${shown((event as { type: unknown }).type)}`);
    }
  };
  return {
    accept,
    isContent: ({ type }) => type === 'partial_transcript' || type === 'committed_transcript',
    finish: () => checkSpans(transcript(), request, provider),
    content: ({ status }) => ({ ...transcript(), ...(status !== 'completed' && partial !== '' ? { partial } : {}) }),
  };
}

function textOf(value: unknown, provider: string): string {
  if (typeof value !== 'string') throw malformed(provider, 'a transcript has no text');
  return value;
}
