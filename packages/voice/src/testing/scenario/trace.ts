import type { VoiceEvent } from '../../turns/events.js';

/** What the script did, which the session cannot know. */
type ScriptEvent =
  | { readonly t: number; readonly type: 'user_speech_start' | 'user_speech_end' }
  /** The last line, with the timers that were left once everything was closed. */
  | { readonly t: number; readonly type: 'closed'; readonly timers: number };

/** One line of a trace. */
export type TraceLine = VoiceEvent | ScriptEvent;

/** Everything that happened in a scenario, in order. */
export type Trace = readonly TraceLine[];
