import type { Clause } from '../text/index.js';

/** What the turn-taking core is told. Times are milliseconds since the session started. */
export type TurnEvent =
  | { readonly type: 'speech_start'; readonly utterance: number; readonly startedAt: number }
  /** A further utterance in the same stretch of speech. */
  | { readonly type: 'speech_resumes'; readonly utterance: number; readonly startedAt: number }
  /** `spokenMs` of speech in this utterance so far. */
  | { readonly type: 'speech_goes_on'; readonly utterance: number; readonly spokenMs: number }
  | { readonly type: 'speech_end'; readonly utterance: number; readonly endedAt: number; readonly accepted: boolean }
  /** The microphone heard what the loudspeaker plays. */
  | { readonly type: 'echo' }
  /** `stable`: behind these words nothing more was heard. */
  | { readonly type: 'stt_partial'; readonly utterance: number; readonly text: string; readonly stable?: boolean }
  /** `finished`: the words look like the end of a turn. */
  | { readonly type: 'stt_final'; readonly utterance: number; readonly text: string; readonly endedAt: number; readonly finished: boolean }
  | { readonly type: 'stt_error'; readonly utterance: number; readonly message: string; readonly final: boolean }
  | { readonly type: 'typed'; readonly text: string }
  | { readonly type: 'say'; readonly text: string; readonly allowInterruptions: boolean }
  | { readonly type: 'interrupt' }
  | { readonly type: 'timer'; readonly timer: TimerName }
  | { readonly type: 'source_end' }
  | { readonly type: 'close' }
  | ReplyProgress;

/** What happens to the reply of a generation. */
export type ReplyProgress = { readonly generation: number } & (
  | { readonly type: 'first_token' }
  | { readonly type: 'clause'; readonly clause: Clause }
  | { readonly type: 'reply_done'; readonly text: string }
  | { readonly type: 'reply_error'; readonly message: string }
  | { readonly type: 'tool_start' | 'tool_end'; readonly callId: string; readonly name: string }
  | { readonly type: 'tts_request'; readonly clause: number; readonly text: string }
  | { readonly type: 'tts_first_byte' | 'tts_done'; readonly clause: number }
  /** `final`: it was tried again already. */
  | { readonly type: 'tts_error'; readonly clause: number; readonly message: string; readonly final: boolean }
  | { readonly type: 'playout_started' | 'playout_drained' }
);

/** `endpoint`: the user's turn may be over · `resume`: nothing came of a barge-in · `hold`: a tool takes its time · `away`: nobody says anything · `words`: speech to text
 * takes too long. */
export type TimerName = 'endpoint' | 'resume' | 'hold' | 'away' | 'words';

/** What the core wants done. The runtime carries it out and decides nothing. */
export type TurnEffect =
  /** `preemptive`: the user may not be done; nothing may take effect before `confirm_reply`. */
  | {
      readonly type: 'start_reply';
      readonly turn: number;
      readonly generation: number;
      readonly text: string;
      readonly preemptive: boolean;
    }
  | { readonly type: 'confirm_reply'; readonly generation: number }
  | { readonly type: 'start_saying'; readonly turn: number; readonly generation: number; readonly text: string }
  | { readonly type: 'speak'; readonly generation: number; readonly clause: Clause; readonly number: number }
  /** Ends model, tools, synthesis and queue of a generation at once. `withdrawn`: its question comes again with what follows. */
  | { readonly type: 'cancel_reply'; readonly generation: number; readonly withdrawn: boolean }
  /** The user said this, and it will not be answered any more. */
  | { readonly type: 'note_words'; readonly text: string }
  /** Everything of the generation was spoken and played. */
  | { readonly type: 'finish_reply'; readonly generation: number }
  /** Nothing more is played, or it goes on at the very sample. */
  | { readonly type: 'hold_output' | 'release_output' }
  | { readonly type: 'set_gain'; readonly gain: 'full' | 'ducked' }
  | { readonly type: 'start_hold_sound' | 'stop_hold_sound' }
  | { readonly type: 'set_timer'; readonly timer: TimerName; readonly ms: number }
  | { readonly type: 'clear_timer'; readonly timer: TimerName }
  | { readonly type: 'emit'; readonly event: VoiceEventBody };

type About<T extends string, Rest = object> = { readonly type: T } & Rest;
type InReply<T extends string, Rest = object> = About<T, { readonly turn: number; readonly generation: number } & Rest>;

/** What a voice session tells the world, without its time stamp. */
export type VoiceEventBody =
  | About<'vad_start', { readonly utterance: number; readonly startedAt: number }>
  | About<'vad_end', { readonly utterance: number; readonly endedAt: number; readonly accepted: boolean }>
  | About<'stt_partial' | 'stt_final', { readonly utterance: number; readonly text: string }>
  /** `supersedes`: the earlier, unanswered turn that this one holds too. */
  | About<'turn_end', { readonly turn: number; readonly text: string; readonly supersedes?: number }>
  | About<'user_state', { readonly state: UserState }>
  | About<'agent_state', { readonly state: AgentState }>
  | InReply<'llm_request', { readonly text: string; readonly preemptive?: boolean }>
  | InReply<'llm_first_token' | 'llm_cancelled' | 'audio_first' | 'flush' | 'duck' | 'unduck' | 'pause' | 'resume'>
  | InReply<'llm_done', { readonly text: string }>
  | InReply<'tool_start' | 'tool_end', { readonly callId: string; readonly name: string }>
  | InReply<'tts_request', { readonly clause: number; readonly text: string }>
  | InReply<'tts_first_byte' | 'tts_done' | 'tts_cancelled', { readonly clause: number }>
  /** The playout of a reply has ended for good; `queuedMs` of it were there. */
  | InReply<'audio_stop', { readonly playedMs: number; readonly queuedMs: number }>
  | InReply<'hold_start' | 'hold_stop'>
  | InReply<'apology', { readonly text: string }>
  | About<'overlap', { readonly verdict: OverlapVerdict }>
  | About<
      'message',
      {
        readonly role: 'user' | 'assistant';
        readonly text: string;
        readonly turn: number;
        readonly generation?: number;
        readonly playedMs?: number;
        readonly interrupted?: boolean;
        readonly supersedes?: number;
      }
    >
  | About<'error', { readonly stage: 'stt' | 'llm' | 'tts' | 'vad' | 'source'; readonly message: string }>
  | About<'away' | 'source_end' | 'closed'>;

/** A voice event and its time, in milliseconds since the session started. */
export type VoiceEvent = { readonly t: number } & VoiceEventBody;

/** What it was that came while the agent spoke. */
export type OverlapVerdict = 'interruption' | 'backchannel' | 'noise' | 'echo';
/** `away`: silent for long after the agent spoke. */
export type UserState = 'quiet' | 'speaking' | 'away';
/** `speaking` begins with the first sample that was really played. */
export type AgentState = 'listening' | 'thinking' | 'speaking';
