import type { AdapterContext } from '../adapters/chat.js';
import type { CapabilityUsage } from '../capabilities/call.js';
import type {
  TranscriptionAdapter,
  TranscriptionAdapterEvent,
  TranscriptionRequest,
  TranscriptionSettings,
  TranscriptSpan,
} from '../capabilities/transcription.js';
import { sleep } from '../clock.js';
import { defined } from '../data/defined.js';
import { Script, type Scripted, type Turns } from './scripted-turns.js';

/** One segment of what a scripted transcriber hears. */
export interface ScriptedSegment {
  readonly text: string;
  /** What it seems to be before it is committed. */
  readonly partials?: readonly string[];
  readonly language?: string;
  /** Default, when asked for: its words, one after another, 100 ms each. */
  readonly spans?: readonly TranscriptSpan[];
}
/** What a scripted transcriber hears once: a text alone, or segments. */
export interface ScriptedHearing {
  readonly segments: readonly (string | ScriptedSegment)[];
  readonly durationMs?: number;
  readonly usage?: CapabilityUsage;
  /** Thrown after the segments. */
  readonly error?: Error;
  /** Milliseconds on the engine's clock before each event of a stream, and before the whole answer. */
  readonly delayMs?: number;
}
export interface ScriptedTranscription extends TranscriptionAdapter, Scripted<TranscriptionSettings> {
  /** Bytes of sound that came in, in all streams. */
  readonly bytesHeard: number;
}

/**
 * A transcriber for tests; both verbs use the same turns. A stream commits one segment per piece of sound (or per `'commit'` when that is
 * manual), and the rest at the end. One call more than there are turns fails with `script_exhausted`.
 *
 * ```ts
 * const transcription = scriptedTranscription(['Hello there.']);
 * const outcome = await createEngine({ transcription }).transcribe(audioPart(bytes, 'audio/wav'));
 * ```
 */
export function scriptedTranscription(
  turns: Turns<TranscriptionSettings, string | ScriptedHearing>,
  options: Pick<TranscriptionAdapter, 'maxAudioBytes' | 'mediaTypes' | 'sampleRates' | 'unsupported'> & {
    readonly model?: string;
    readonly timestamps?: boolean;
    readonly logprobs?: boolean;
  } = {},
): ScriptedTranscription {
  const { model = 'scripted', timestamps = true, logprobs = true, sampleRates = [8_000, 16_000, 24_000, 48_000], ...limits } = options;
  const script = new Script(turns);
  let bytesHeard = 0;
  const begin = async (request: TranscriptionSettings, context: AdapterContext, refuse: readonly (string | false)[]) => {
    const said = await script.answer(request, context, [
      request.timestamps === true && !timestamps && 'there are no times of words',
      request.logprobs === true && !logprobs && 'there are no log-probabilities',
      ...refuse,
    ]);
    return typeof said === 'string' ? { segments: [said] } : said;
  };
  return {
    provider: 'scripted',
    model,
    timestamps,
    logprobs,
    sampleRates,
    ...limits,
    requests: script.requests,
    get remaining() {
      return script.remaining;
    },
    get bytesHeard() {
      return bytesHeard;
    },
    async transcribe(request: TranscriptionRequest, context) {
      const bytes = Math.floor((request.audio.data.length * 3) / 4);
      const hearing: ScriptedHearing = await begin(request, context, [
        bytes === 0 && 'there is no sound',
        bytes > (limits.maxAudioBytes ?? 25_000_000) && 'the recording is too large',
      ]);
      if (hearing.delayMs) await sleep(context.clock, hearing.delayMs, context.signal);
      if (hearing.error) throw hearing.error;
      const segments = hearing.segments.map(segment => whole(segment, request));
      const language = segments.find(segment => segment.language !== undefined)?.language;
      return {
        text: segments.map(({ text }) => text).join(' '),
        ...defined({ language, durationMs: hearing.durationMs }),
        ...(request.timestamps || request.logprobs ? { spans: segments.flatMap(({ spans = [] }) => spans) } : {}),
        usage: hearing.usage ?? {},
        model: request.model ?? model,
      };
    },
    async *streamTranscription(request, audio, context): AsyncGenerator<TranscriptionAdapterEvent> {
      const rate = !sampleRates.includes(request.sampleRate) && `there is no rate of ${request.sampleRate} Hz`;
      const hearing: ScriptedHearing = await begin(request, context, [rate]);
      const pause = async () => {
        if (hearing.delayMs) await sleep(context.clock, hearing.delayMs, context.signal);
        context.signal.throwIfAborted();
      };
      const rest = hearing.segments.map(segment => whole(segment, request));
      async function* commit(): AsyncGenerator<TranscriptionAdapterEvent> {
        const segment = rest.shift();
        if (!segment) return;
        const { partials = [], ...committed } = segment;
        for (const text of partials) {
          await pause();
          yield { type: 'partial_transcript', text };
        }
        await pause();
        yield { type: 'committed_transcript', ...committed };
      }
      yield { type: 'transcription_start' };
      for await (const piece of audio) {
        if (piece !== 'commit') bytesHeard += piece.length;
        if ((piece === 'commit') === (request.commit === 'manual')) yield* commit();
      }
      while (rest.length > 0) yield* commit();
      if (hearing.error) throw hearing.error;
      const { durationMs, usage = {} } = hearing;
      yield { type: 'transcription_end', usage, model: request.model ?? model, ...defined({ durationMs }) };
    },
  };
}

function whole(given: string | ScriptedSegment, { timestamps, logprobs }: TranscriptionSettings): ScriptedSegment {
  const segment = typeof given === 'string' ? { text: given } : given;
  if (segment.spans !== undefined || !(timestamps || logprobs)) return segment;
  const spans = (segment.text.match(/\S+/g) ?? []).map(
    (text, i): TranscriptSpan => ({
      text,
      kind: 'word',
      ...(timestamps ? { startMs: i * 100, endMs: (i + 1) * 100 } : {}),
      ...(logprobs ? { logprob: 0 } : {}),
    }),
  );
  return { ...segment, spans };
}
