import type { VoiceEvent } from '@antiphon/voice';

/** How long the parts of a spoken turn took, in milliseconds. A part that did not happen is missing. */
interface TurnLatency {
  /** True end of speech → the turn is taken to be over. */
  readonly endpoint?: number;
  /** The utterance is closed → its words are known. */
  readonly stt?: number;
  /** Request to the model → its first token. */
  readonly firstToken?: number;
  /** Request to the model → the first clause is asked of the synthesizer. */
  readonly firstClause?: number;
  /** Request to the model → the first sample is played. */
  readonly firstAudio?: number;
  /** True end of speech → the first sample is played: what the user waits. */
  readonly total?: number;
}

/** What one turn was, read from a session's events. */
export interface TurnReport {
  readonly transcript: string;
  readonly reply: string;
  readonly clauses: readonly string[];
  readonly latencyMs: TurnLatency;
  readonly errors: readonly string[];
}

/** The event with this type; some types share one shape. */
type OfType<T extends VoiceEvent['type']> = VoiceEvent extends infer E
  ? E extends { readonly type: infer U }
    ? T extends U
      ? E
      : never
    : never
  : never;

export function turnReport(events: readonly VoiceEvent[]): TurnReport {
  const all = <T extends VoiceEvent['type']>(type: T) => events.filter((event): event is OfType<T> => event.type === type);
  const last = <T extends VoiceEvent['type']>(type: T) => all(type).at(-1);
  const request = last('llm_request');
  const ofReply = <T extends VoiceEvent['type']>(type: T) =>
    all(type).find(event => 'generation' in event && event.generation === request?.generation)?.t;
  const turnEnd = last('turn_end');
  const speechEnd = all('vad_end').findLast(event => event.accepted && event.t <= (turnEnd?.t ?? 0));
  const final = all('stt_final').findLast(event => event.utterance === speechEnd?.utterance);
  const firstAudio = ofReply('audio_first');
  const span = (name: keyof TurnLatency, from: number | undefined, to: number | undefined): TurnLatency =>
    from === undefined || to === undefined ? {} : { [name]: Math.max(0, Math.round(to - from)) };
  return {
    transcript: turnEnd?.text ?? '',
    reply: all('message').findLast(event => event.role === 'assistant')?.text ?? '',
    clauses: all('tts_request').map(event => event.text),
    latencyMs: {
      ...span('endpoint', speechEnd?.endedAt, turnEnd?.t),
      ...span('stt', speechEnd?.t, final?.t),
      ...span('firstToken', request?.t, ofReply('llm_first_token')),
      ...span('firstClause', request?.t, ofReply('tts_request')),
      ...span('firstAudio', request?.t, firstAudio),
      ...span('total', speechEnd?.endedAt, firstAudio),
    },
    errors: all('error').map(event => `${event.stage}: ${event.message}`),
  };
}
