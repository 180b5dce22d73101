import type { PolicyChanges } from '../../turns/policy.js';
import type { TraceLine } from './trace.js';

/** Milliseconds since the session began, or since something happened: `"turn_end + 100"`, `"agent.speaking + 1500"`. */
export type When = number | string;

/** What the user does. */
export type UserAction =
  | {
      /** From when to when somebody speaks. */
      readonly speech: readonly [When, When];
      /** The words; nothing is understood without them. */
      readonly text?: string;
      /** Words that are heard before the end; a time before the speech counts from its beginning. */
      readonly partials?: readonly (readonly [number, string])[];
      /** The final words come this long after the speech. */
      readonly finalMs?: number;
      /** The words do not look like the end of a turn. */
      readonly unfinished?: boolean;
      /** Speech to text fails, this many times (default: always). */
      readonly error?: string;
      readonly times?: number;
    }
  /** A sound that voice activity takes for speech, without words. */
  | { readonly noise: readonly [When, When] }
  | { readonly typed: string; readonly at: When }
  /** The microphone hears the loudspeaker. */
  | { readonly echo: true; readonly at: When; readonly ms: number }
  | { readonly say: string; readonly at: When; readonly allowInterruptions?: boolean }
  | { readonly interrupt: true; readonly at: When };

/** A tool of a reply. */
export interface ScenarioTool {
  readonly name: string;
  readonly arguments?: object;
  readonly ms?: number;
  readonly result?: unknown;
}

/** An answer of the model. */
export interface ScenarioAnswer {
  /** The turn's text, without case and end punctuation; `*` is any. */
  readonly when: string;
  readonly text?: string;
  readonly firstTokenMs?: number;
  readonly durationMs?: number;
  /** How long all its sound lasts; default: by its characters. */
  readonly audioMs?: number;
  readonly tools?: readonly ScenarioTool[];
  /** What is said when the tools are done. */
  readonly then?: string;
  /** The model fails, this many times (default: always). */
  readonly error?: string;
  readonly times?: number;
}

/** A conversation to be played on a virtual clock, as JSON. All times are milliseconds. */
export interface Scenario {
  readonly name?: string;
  readonly policy?: PolicyChanges;
  readonly vad?: { readonly onsetMs?: number; readonly silenceMs?: number };
  readonly stt?: { readonly finalMs?: number };
  readonly user?: readonly UserAction[];
  readonly llm?: readonly ScenarioAnswer[];
  readonly tts?: { readonly firstByteMs?: number; readonly msPerChar?: number; readonly failOn?: string };
  readonly greeting?: string;
  /** When the session is closed; default: a minute after the last that is fixed. */
  readonly end?: number;
}

const KEYS = ['name', 'policy', 'vad', 'stt', 'user', 'llm', 'tts', 'greeting', 'end'];

/** Checks what came as JSON; throws `TypeError` that names the place. */
export function asScenario(value: unknown): Scenario {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('A scenario is an object.');
  const unknown = Object.keys(value).filter(key => !KEYS.includes(key));
  if (unknown.length > 0) throw new TypeError(`A scenario does not know "${unknown[0]}". It takes ${KEYS.join(', ')}.`);
  const scenario = value as Scenario;
  for (const [place, list] of [
    ['user', scenario.user],
    ['llm', scenario.llm],
  ] as const)
    if (list !== undefined && !Array.isArray(list)) throw new TypeError(`${place} must be a list.`);
  scenario.user?.forEach((action, i) => {
    checkAction(action, `user[${i}]`);
  });
  scenario.llm?.forEach((answer, i) => {
    if (typeof answer?.when !== 'string') throw new TypeError(`llm[${i}].when must be the text of a turn, or "*".`);
  });
  if (scenario.end !== undefined && !(scenario.end >= 0)) throw new TypeError(`end must be milliseconds, not ${scenario.end}.`);
  return scenario;
}

function checkAction(action: UserAction, place: string): void {
  const span = 'speech' in action ? action.speech : 'noise' in action ? action.noise : undefined;
  const kinds = ['speech', 'noise', 'typed', 'echo', 'say', 'interrupt'];
  if (!span && !kinds.some(kind => kind in action)) throw new TypeError(`${place} must have one of ${kinds.join(', ')}.`);
  const times = span ?? ['at' in action ? action.at : undefined];
  if (span && span.length !== 2) throw new TypeError(`${place} must go from one time to another.`);
  for (const time of times) parseWhen(time, place);
  if (span && typeof span[0] === 'number' && typeof span[1] === 'number' && span[1] < span[0])
    throw new TypeError(`${place} ends before it begins.`);
}

/** Events from which a time may count; `agent.speaking` is the event `agent_state` with that state. */
const ANCHORS: readonly TraceLine['type'][] = [
  'turn_end',
  'vad_start',
  'vad_end',
  'stt_partial',
  'stt_final',
  'agent_state',
  'user_state',
  'llm_request',
  'llm_first_token',
  'llm_done',
  'tool_start',
  'tool_end',
  'tts_request',
  'tts_first_byte',
  'tts_done',
  'audio_first',
  'audio_stop',
  'duck',
  'unduck',
  'pause',
  'resume',
  'flush',
  'overlap',
  'message',
  'away',
  'hold_start',
  'hold_stop',
  'apology',
  'error',
];

/** A time and what it counts from. */
export interface Anchor {
  /** Undefined: the beginning of the session. */
  readonly type: string | undefined;
  readonly state: string | undefined;
  readonly ms: number;
}

/** Reads `1500` and `"agent.speaking + 1500"`; throws `TypeError` for anything else. */
export function parseWhen(when: unknown, place: string): Anchor {
  if (typeof when === 'number' && when >= 0) return { type: undefined, state: undefined, ms: when };
  const parts = typeof when === 'string' ? /^\s*([a-z_]+)(?:\.([a-z]+))?\s*(?:([+-])\s*(\d+))?\s*$/.exec(when) : null;
  if (!parts) throw new TypeError(`${place}: ${JSON.stringify(when)} is no time. Write 1500 or "agent.speaking + 1500".`);
  const [, name = '', state, sign, ms = '0'] = parts;
  const type = state === undefined ? name : `${name}_state`;
  if (!(ANCHORS as readonly string[]).includes(type))
    throw new TypeError(`${place}: nothing is called "${name}". A time may count from ${ANCHORS.join(', ')}.`);
  return { type, state, ms: sign === '-' ? -Number(ms) : Number(ms) };
}
