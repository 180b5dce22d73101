import type { Trace, TraceLine, Violation } from '@antiphon/voice/testing';
import { table } from '../output.js';

/** A trace for people: when, who, what. What was broken stands at the end. */
export function timeline(trace: Trace, violations: readonly Violation[]): string {
  const all = [...trace, ...violations].map(({ t }) => seconds(t));
  const width = Math.max(0, ...all.map(({ length }) => length));
  const when = (t: number) => seconds(t).padStart(width);
  const lines = table(trace.map(line => [when(line.t), ...describe(line)]));
  if (violations.length === 0) return `${lines}\n\nNo law is broken.`;
  return `${lines}\n\nBroken laws:\n${table(violations.map(({ t, law, message }) => [when(t), `law ${law}`, message]))}`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** Who, and what. Text stands in quotes, so that it is one line and shows its white space. */
function describe(line: TraceLine): readonly [who: string, what: string] {
  switch (line.type) {
    case 'user_speech_start':
      return ['user', 'makes a sound'];
    case 'user_speech_end':
      return ['user', 'makes no more sound'];
    case 'vad_start':
      return ['ears', `speech, since ${seconds(line.startedAt)}`];
    case 'vad_end':
      return ['ears', `silence, since ${seconds(line.endedAt)}${line.accepted ? '' : '; that was no speech'}`];
    case 'stt_partial':
      return ['ears', `words so far ${quoted(line.text)}`];
    case 'stt_final':
      return ['ears', line.text === '' ? 'no words' : `words ${quoted(line.text)}`];
    case 'turn_end': {
      const merged = line.supersedes === undefined ? '' : `, which holds turn ${line.supersedes} too`;
      return ['user', `has finished turn ${line.turn}${merged}`];
    }
    case 'user_state':
      return ['user', `is ${line.state}`];
    case 'agent_state':
      return ['agent', `is ${line.state}`];
    case 'llm_request':
      return ['model', `asked ${quoted(line.text)}${line.preemptive ? ', a guess' : ''}`];
    case 'llm_first_token':
      return ['model', 'first token'];
    case 'llm_done':
      return ['model', 'done'];
    case 'llm_cancelled':
      return ['model', 'cancelled'];
    case 'tool_start':
      return ['tool', `${line.name} begins (${line.callId})`];
    case 'tool_end':
      return ['tool', `${line.name} ends (${line.callId})`];
    case 'tts_request':
      return ['voice', `clause ${line.clause} ${quoted(line.text)}`];
    case 'tts_first_byte':
      return ['voice', `clause ${line.clause} has its first audio`];
    case 'tts_done':
      return ['voice', `clause ${line.clause} has all its audio`];
    case 'tts_cancelled':
      return ['voice', 'cancelled'];
    case 'audio_first':
      return ['speaker', 'first sample'];
    case 'audio_stop':
      return ['speaker', `ends after ${seconds(line.playedMs)} of ${seconds(line.queuedMs)} s`];
    case 'duck':
      return ['speaker', 'quieter'];
    case 'unduck':
      return ['speaker', 'as loud as before'];
    case 'pause':
      return ['speaker', 'paused'];
    case 'resume':
      return ['speaker', 'goes on'];
    case 'flush':
      return ['speaker', 'drops what waits'];
    case 'hold_start':
      return ['speaker', 'hold sound begins'];
    case 'hold_stop':
      return ['speaker', 'hold sound ends'];
    case 'overlap':
      return ['agent', `takes it for ${line.verdict === 'interruption' || line.verdict === 'echo' ? 'an' : 'a'} ${line.verdict}`];
    case 'message':
      return [line.role === 'user' ? 'user' : 'agent', `said ${quoted(line.text)}${line.interrupted ? ', then was cut off' : ''}`];
    case 'apology':
      return ['agent', `apologizes ${quoted(line.text)}`];
    case 'away':
      return ['agent', 'takes the user to be away'];
    case 'error':
      return [ERRORS[line.stage], `fails: ${line.message}`];
    case 'source_end':
      return ['ears', 'nothing more to hear'];
    case 'closed':
      return ['session', 'timers' in line && line.timers > 0 ? `closed, with ${line.timers} timers left behind` : 'closed'];
  }
}

const ERRORS = { stt: 'ears', vad: 'ears', source: 'ears', llm: 'model', tts: 'voice' } as const;

function quoted(text: string): string {
  return JSON.stringify(text);
}
