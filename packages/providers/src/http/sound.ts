// What the adapters of sound have in common: what a sound is, and how its pieces become a whole.
import {
  AdapterError,
  audioPart,
  type SpeechAbout,
  type SpeechAdapterEvent,
  type SpeechFormat,
  type SpeechResponse,
  type SpokenWord,
} from '@antiphon/engine';
import { bareMediaType } from '../media/media-type.js';
import { bytesOf, joinedBytes } from './bytes.js';
import { malformedAnswer } from './call.js';
import { type ErrorContext, htmlTitle } from './errors.js';
import type { StreamedAnswer } from './streamed.js';

const MEDIA_TYPES: { readonly [F in SpeechFormat]: string } = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  ulaw: 'audio/basic',
  alaw: 'audio/x-alaw-basic',
};

/** What is known of a sound that was asked for; a raw one has its rate (Hz). */
export function soundOf(format: SpeechFormat, sampleRate: number | undefined): SpeechAbout {
  return { mediaType: MEDIA_TYPES[format], format, ...(sampleRate === undefined ? {} : { sampleRate }) };
}

/** Milliseconds of raw 16-bit mono samples. */
export function pcmDurationMs(bytes: number, sampleRate: number): number {
  return Math.round(bytes / 2 / (sampleRate / 1000));
}

/** The media type that an answer says it has; `''` when it says none. */
export function mediaTypeOf(headers: Headers): string {
  return bareMediaType(headers.get('content-type') ?? '');
}

/** Throws for an answer that says that it is no sound (a web page, JSON), with what stands at its beginning. */
function refuseOtherMedia(mediaType: string, beginning: Uint8Array | undefined, about: ErrorContext): void {
  if (mediaType === '' || /^(audio|video)\/|octet-stream/.test(mediaType)) return;
  const start = new TextDecoder().decode(beginning?.subarray(0, 4_000));
  const title = htmlTitle(start);
  const words = title === undefined ? start.trim().slice(0, 200) : `a web page ("${title}")`;
  throw malformedAnswer(about, `answered with ${mediaType} instead of sound${words === '' ? '' : `: ${words}`}`);
}

/** Hands on the pieces of one sound, and finds out whether it is whole. */
export class SoundWriter {
  readonly #about: ErrorContext;
  readonly #sound: SpeechAbout;
  #bytes = 0;

  constructor(sound: SpeechAbout, about: ErrorContext) {
    this.#sound = sound;
    this.#about = about;
  }

  /** True once a piece was passed on. */
  get shown(): boolean {
    return this.#bytes > 0;
  }

  /** The whole of an answer that is nothing but sound. */
  async *answer({ headers, read }: StreamedAnswer): AsyncGenerator<SpeechAdapterEvent> {
    const shown = () => this.shown;
    let bytes = await read(shown);
    refuseOtherMedia(mediaTypeOf(headers), bytes, this.#about);
    for (; bytes; bytes = await read(shown)) yield* this.piece(bytes);
    this.end();
  }

  *base64(text: unknown): Generator<SpeechAdapterEvent> {
    const bytes = typeof text === 'string' ? bytesOf(text) : undefined;
    if (!bytes) throw malformedAnswer(this.#about, 'sent a piece of sound that is no base64');
    yield* this.piece(bytes);
  }

  /** The first piece begins the speech. */
  *piece(bytes: Uint8Array): Generator<SpeechAdapterEvent> {
    if (bytes.length === 0) return;
    if (!this.shown) yield { type: 'speech_start', ...this.#sound };
    this.#bytes += bytes.length;
    yield { type: 'audio_delta', bytes };
  }

  /** Throws when there was no sound, or when it ends within a sample. */
  end(): void {
    if (this.#bytes === 0) throw malformedAnswer(this.#about, 'answered without any sound');
    if (this.#sound.format !== 'pcm' || this.#bytes % 2 === 0) return;
    const { provider } = this.#about;
    throw new AdapterError('truncated', `${provider}: the sound ended in the middle of a sample.`, { provider });
  }
}

/** The whole of a streamed answer: both ways to ask give the same. */
export async function wholeSpeech(events: AsyncIterable<SpeechAdapterEvent>): Promise<SpeechResponse> {
  const pieces: Uint8Array[] = [];
  const words: SpokenWord[] = [];
  let sound: SpeechAbout = { mediaType: '' };
  let timed = false;
  let report: Partial<SpeechResponse> = {};
  for await (const event of events) {
    switch (event.type) {
      case 'speech_start': {
        const { type: _, ...about } = event;
        sound = about;
        break;
      }
      case 'audio_delta':
        pieces.push(event.bytes);
        break;
      case 'words':
        timed = true;
        words.push(...event.words);
        break;
      case 'speech_end': {
        const { type: _, ...rest } = event;
        report = rest;
        break;
      }
      default:
        break;
    }
  }
  const { mediaType, ...known } = sound;
  return { audio: audioPart(joinedBytes(pieces), mediaType), ...known, ...(timed ? { words } : {}), ...report };
}
