import type { Clause } from '../text/index.js';

/** What the turn-taking core is told. Times are milliseconds since the session started. */
export type TurnEvent =
  | { readonly type: 'speech_start'; readonly utterance: number; readonly startedAt: number }
  /** `spokenMs` of speech in this utterance so far. */
  | { readonly type: 'speech_goes_on'; readonly utterance: number; readonly spokenMs: number }
  | { readonly type: 'speech_end'; readonly utterance: number; readonly endedAt: number; readonly accepted: boolean }
  | { readonly type: 'stt_partial'; readonly utterance: number; readonly text: string }
  | { readonly type: 'stt_final'; readonly utterance: number; readonly text: string; readonly endedAt: number }
  | { readonly type: 'stt_error'; readonly utterance: number; readonly message: string }
  | { readonly type: 'typed'; readonly text: string }
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'interrupt' }
  | { readonly type: 'timer'; readonly timer: TimerName }
  | { readonly type: 'first_token'; readonly generation: number }
  | { readonly type: 'clause'; readonly generation: number; readonly clause: Clause }
  | { readonly type: 'reply_done'; readonly generation: number; readonly text: string }
  | { readonly type: 'reply_error'; readonly generation: number; readonly message: string }
  | { readonly type: 'tool_start'; readonly generation: number; readonly callId: string; readonly name: string }
  | { readonly type: 'tool_end'; readonly generation: number; readonly callId: string; readonly name: string }
  | { readonly type: 'tts_first_byte'; readonly generation: number; readonly clause: number }
  | { readonly type: 'tts_done'; readonly generation: number; readonly clause: number }
  | { readonly type: 'tts_error'; readonly generation: number; readonly clause: number; readonly message: string }
  | { readonly type: 'playout_started'; readonly generation: number }
  | { readonly type: 'playout_drained'; readonly generation: number }
  | { readonly type: 'source_end' }
  | { readonly type: 'close' };

export type TimerName = 'endpoint';

/** What the core wants done. The runtime carries it out and decides nothing. */
export type TurnEffect =
  | { readonly type: 'start_reply'; readonly turn: number; readonly generation: number; readonly text: string }
  | { readonly type: 'start_saying'; readonly turn: number; readonly generation: number; readonly text: string }
  | { readonly type: 'speak'; readonly generation: number; readonly clause: Clause; readonly number: number }
  /** Ends model, tools, synthesis and queue of a generation at once. */
  | { readonly type: 'cancel_reply'; readonly generation: number; readonly withdrawn: boolean }
  /** Everything of the generation was spoken and played. */
  | { readonly type: 'finish_reply'; readonly generation: number }
  | { readonly type: 'set_timer'; readonly timer: TimerName; readonly ms: number }
  | { readonly type: 'clear_timer'; readonly timer: TimerName }
  | { readonly type: 'emit'; readonly event: VoiceEventBody };

type About<T extends string, Rest = object> = { readonly type: T } & Rest;
type InReply<T extends string, Rest = object> = About<T, { readonly generation: number } & Rest>;

/** What a voice session tells the world, without its time stamp. */
export type VoiceEventBody =
  | About<'user_speech_start', { readonly utterance: number; readonly startedAt: number }>
  | About<'user_speech_end', { readonly utterance: number; readonly endedAt: number; readonly accepted: boolean }>
  | About<'stt_partial' | 'stt_final', { readonly utterance: number; readonly text: string }>
  | About<'turn_end', { readonly turn: number; readonly text: string }>
  | About<'user_state', { readonly state: UserState }>
  | About<'agent_state', { readonly state: AgentState }>
  | InReply<'llm_request', { readonly turn: number; readonly text: string }>
  | InReply<'llm_first_token' | 'llm_cancelled' | 'audio_first'>
  | InReply<'llm_done', { readonly text: string }>
  | InReply<'tool_start' | 'tool_end', { readonly callId: string; readonly name: string }>
  | InReply<'tts_request', { readonly clause: number; readonly text: string }>
  | InReply<'tts_first_byte' | 'tts_done', { readonly clause: number }>
  | InReply<'audio_stop', { readonly playedMs: number }>
  | InReply<'flush'>
  | About<
      'message',
      {
        readonly role: 'user' | 'assistant';
        readonly text: string;
        readonly turn: number;
        readonly playedMs?: number;
        readonly interrupted?: boolean;
      }
    >
  | InReply<'apology', { readonly text: string }>
  | About<'error', { readonly stage: 'stt' | 'llm' | 'tts' | 'vad' | 'source'; readonly message: string }>
  | About<'source_end'>
  | About<'closed'>;

/** A voice event and its time, in milliseconds since the session started. */
export type VoiceEvent = { readonly t: number } & VoiceEventBody;

export type UserState = 'quiet' | 'speaking';
/** `speaking` begins with the first sample that was really played. */
export type AgentState = 'listening' | 'thinking' | 'speaking';
