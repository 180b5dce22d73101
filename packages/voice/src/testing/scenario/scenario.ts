import { isRecord } from '@antiphon/engine';
import { type PolicyChanges, turnPolicy } from '../../turns/policy.js';
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

type Rule = readonly [what: string, holds: (value: unknown) => boolean];
const TEXT: Rule = ['a text', value => typeof value === 'string'];
const MS: Rule = ['milliseconds from 0', value => typeof value === 'number' && value >= 0];
const COUNT: Rule = ['a whole number', value => Number.isInteger(value)];
const FLAG: Rule = ['true or false', value => typeof value === 'boolean'];
const ANYTHING: Rule = ['anything', () => true];
const LIST: Rule = ['a list', Array.isArray];
const OBJECT: Rule = ['an object', isRecord];
const PARTIALS: Rule = [
  'a list of [time, text]',
  value => Array.isArray(value) && value.every(item => Array.isArray(item) && MS[1](item[0]) && TEXT[1](item[1])),
];

const SCENARIO = { name: TEXT, policy: OBJECT, vad: OBJECT, stt: OBJECT, user: LIST, llm: LIST, tts: OBJECT, greeting: TEXT, end: MS };
const VAD = { onsetMs: MS, silenceMs: MS };
const STT = { finalMs: MS };
const TTS = { firstByteMs: MS, msPerChar: MS, failOn: TEXT };
const WORDS = { text: TEXT, partials: PARTIALS, finalMs: MS, unfinished: FLAG, error: TEXT, times: COUNT };
const ACTIONS: Record<string, Record<string, Rule>> = {
  speech: { speech: LIST, ...WORDS },
  noise: { noise: LIST },
  typed: { typed: TEXT, at: ANYTHING },
  echo: { echo: FLAG, at: ANYTHING, ms: MS },
  say: { say: TEXT, at: ANYTHING, allowInterruptions: FLAG },
  interrupt: { interrupt: FLAG, at: ANYTHING },
};
const ANSWER = {
  when: TEXT,
  text: TEXT,
  firstTokenMs: MS,
  durationMs: MS,
  audioMs: MS,
  tools: LIST,
  then: TEXT,
  error: TEXT,
  times: COUNT,
};
const TOOL = { name: TEXT, arguments: OBJECT, ms: MS, result: ANYTHING };

/** Checks what came as JSON; throws `TypeError` or `RangeError` that names the place. */
export function asScenario(value: unknown): Scenario {
  check('A scenario', value, SCENARIO);
  const scenario = value as Scenario;
  turnPolicy(scenario.policy);
  check('vad', scenario.vad ?? {}, VAD);
  check('stt', scenario.stt ?? {}, STT);
  check('tts', scenario.tts ?? {}, TTS);
  for (const [i, action] of (scenario.user ?? []).entries()) checkAction(action, `user[${i}]`);
  for (const [i, answer] of (scenario.llm ?? []).entries()) {
    check(`llm[${i}]`, answer, ANSWER);
    if (answer.when === undefined) throw new TypeError(`llm[${i}].when must be the text of a turn, or "*".`);
    for (const [j, tool] of (answer.tools ?? []).entries()) {
      check(`llm[${i}].tools[${j}]`, tool, TOOL);
      if (tool.name === undefined) throw new TypeError(`llm[${i}].tools[${j}] must have a name.`);
    }
  }
  return scenario;
}

function checkAction(action: unknown, place: string): void {
  if (!isRecord(action)) throw new TypeError(`${place} must be an object.`);
  const kind = Object.keys(ACTIONS).find(name => Object.hasOwn(action, name));
  if (kind === undefined) throw new TypeError(`${place} must have one of ${Object.keys(ACTIONS).join(', ')}.`);
  check(place, action, ACTIONS[kind] ?? {});
  const span = (action.speech ?? action.noise) as readonly unknown[] | undefined;
  if (span && span.length !== 2) throw new TypeError(`${place} must go from one time to another.`);
  for (const time of span ?? [action.at]) parseWhen(time, place);
  const [from, to] = span ?? [];
  if (typeof from === 'number' && typeof to === 'number' && to < from) throw new TypeError(`${place} ends before it begins.`);
}

function check(place: string, value: unknown, rules: Readonly<Record<string, Rule>>): void {
  if (!isRecord(value)) throw new TypeError(`${place} must be an object.`);
  for (const [key, part] of Object.entries(value)) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    if (!rule) throw new TypeError(`${place} does not know "${key}". It takes ${Object.keys(rules).join(', ')}.`);
    const name = place === 'A scenario' ? key : `${place}.${key}`;
    if (!rule[1](part)) throw new TypeError(`${name} must be ${rule[0]}.`);
  }
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
