import type { VoiceEvent } from '@antiphon/voice';

/**
 * How long the parts of a spoken turn took, in milliseconds. A part that did not happen is missing. What came before the turn was over, because
 * the model was asked on a guess, took none of the user's time: 0.
 */
interface TurnLatency {
  /** True end of speech → the turn is taken to be over. */
  readonly endpoint?: number;
  /** The utterance is closed → its words are known. */
  readonly stt?: number;
  /** End of turn → the model's first token. */
  readonly firstToken?: number;
  /** End of turn → the first clause is asked of the synthesizer. */
  readonly firstClause?: number;
  /** End of turn → the first sample is played. */
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

/** Reads the last turn that ended. Whether the model was asked at its end or before, and once or again, the user waits from its end. */
export function turnReport(events: readonly VoiceEvent[]): TurnReport {
  const all = <T extends VoiceEvent['type']>(type: T) => events.filter((event): event is OfType<T> => event.type === type);
  const turnEnd = all('turn_end').at(-1);
  const generation = all('llm_request').findLast(event => event.turn === turnEnd?.turn)?.generation;
  const ofReply = <T extends VoiceEvent['type']>(type: T) =>
    all(type).find(event => 'generation' in event && event.generation === generation)?.t;
  const firstAudio = ofReply('audio_first');
  // Sounds without words end no turn.
  const final = all('stt_final').findLast(event => event.text.trim() !== '' && event.t <= (turnEnd?.t ?? 0));
  const speechEnd = all('vad_end').find(event => event.utterance === final?.utterance);
  const span = (name: keyof TurnLatency, from: number | undefined, to: number | undefined): TurnLatency =>
    from === undefined || to === undefined ? {} : { [name]: Math.max(0, Math.round(to - from)) };
  return {
    transcript: turnEnd?.text ?? '',
    reply: all('message').findLast(event => event.role === 'assistant' && event.generation === generation)?.text ?? '',
    clauses: all('tts_request').flatMap(event => (event.generation === generation ? [event.text] : [])),
    latencyMs: {
      ...span('endpoint', speechEnd?.endedAt, turnEnd?.t),
      ...span('stt', speechEnd?.t, final?.t),
      ...span('firstToken', turnEnd?.t, ofReply('llm_first_token')),
      ...span('firstClause', turnEnd?.t, ofReply('tts_request')),
      ...span('firstAudio', turnEnd?.t, firstAudio),
      ...span('total', speechEnd?.endedAt, firstAudio),
    },
    errors: all('error').map(event => `${event.stage}: ${event.message}`),
  };
}
