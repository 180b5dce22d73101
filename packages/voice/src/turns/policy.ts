import { defaultSegmenterPolicy, type SegmenterPolicy } from '../listening/segmenter.js';

/** When a turn ends, when the agent yields, what it says when it fails. Times in milliseconds. */
export interface TurnPolicy {
  readonly endpoint: {
    /** Silence after words that look finished. */
    readonly finishedMs: number;
    /** Silence after words that do not. */
    readonly unfinishedMs: number;
    /** Words that follow an unanswered turn after less than this belong to it, even when its silence was over. */
    readonly mergeMs: number;
    /** Words that take longer than this are not waited for; when they come after all, they are a turn of their own. */
    readonly wordsMs: number;
  };
  readonly interrupt: {
    /** This much speech over the agent makes it quieter … */
    readonly duckMs: number;
    /** … and this much pauses it, silences left out; `false` lets it finish. */
    readonly pauseMs: number | false;
    /** So many words that are no backchannel stop it at once. */
    readonly words: number;
    /** Words that an interruption needs in all. */
    readonly minWords: number;
    /** A paused reply goes on this long after a sound of which no words came. */
    readonly resumeMs: number;
  };
  /** Whether the model is asked before the turn is over, and whether its answer is spoken into the queue too. Nothing is heard before. */
  readonly preemptive: 'off' | 'text' | 'speech';
  /** Guesses in one turn. */
  readonly guesses: number;
  /** A sound that tells that a tool still works begins this long after the tool; needs the session's `holdSound`; `false`: never. */
  readonly holdMs: number | false;
  /** Silence after the agent spoke that means that nobody is there; `false`: never. */
  readonly awayMs: number | false;
  /** Spoken when a stage fails for good before anything of the reply was heard; empty says nothing. */
  readonly apology: string;
  /** What people say only to show that they listen, for languages that the house does not know. Compared without case and punctuation. */
  readonly backchannels: readonly string[];
  readonly vad: SegmenterPolicy;
}

export const defaultTurnPolicy: TurnPolicy = {
  endpoint: { finishedMs: 300, unfinishedMs: 1500, mergeMs: 500, wordsMs: 10_000 },
  interrupt: { duckMs: 120, pauseMs: 300, words: 2, minWords: 1, resumeMs: 600 },
  preemptive: 'text',
  guesses: 3,
  holdMs: 700,
  awayMs: 15_000,
  apology: 'Sorry, I could not answer that. Please try again.',
  backchannels: [],
  vad: defaultSegmenterPolicy,
};

/** A policy with some values replaced, group by group. */
export type PolicyChanges = {
  readonly [K in keyof TurnPolicy]?: TurnPolicy[K] extends readonly unknown[]
    ? TurnPolicy[K]
    : TurnPolicy[K] extends object
      ? Partial<TurnPolicy[K]>
      : TurnPolicy[K];
};

/** Throws `RangeError` for a value that cannot work, and `TypeError` for a name that is none. */
export function turnPolicy(changes: PolicyChanges = {}): TurnPolicy {
  const base = defaultTurnPolicy;
  checkNames('policy', changes, base);
  for (const group of ['endpoint', 'interrupt', 'vad'] as const) checkNames(`policy.${group}`, changes[group] ?? {}, base[group]);
  const policy: TurnPolicy = {
    ...base,
    ...changes,
    endpoint: { ...base.endpoint, ...changes.endpoint },
    interrupt: { ...base.interrupt, ...changes.interrupt },
    vad: { ...base.vad, ...changes.vad },
  };
  const { endpoint, interrupt, vad, guesses, holdMs, awayMs } = policy;
  const amounts = { ...named('endpoint', endpoint), ...named('interrupt', interrupt), ...named('vad', vad), guesses, holdMs, awayMs };
  for (const [name, value] of Object.entries(amounts)) {
    const mayBeOff = ['interrupt.pauseMs', 'holdMs', 'awayMs'].includes(name);
    if (mayBeOff && value === false) continue;
    if (!(typeof value === 'number' && value >= 0)) throw new RangeError(`policy.${name} must be a number from 0, not ${String(value)}.`);
  }
  if (vad.offThreshold > vad.onThreshold)
    throw new RangeError(`policy.vad.offThreshold (${vad.offThreshold}) must not be above onThreshold (${vad.onThreshold}).`);
  if (typeof policy.apology !== 'string') throw new TypeError('policy.apology must be a text; an empty one says nothing.');
  if (!Array.isArray(policy.backchannels) || policy.backchannels.some(phrase => typeof phrase !== 'string'))
    throw new TypeError('policy.backchannels must be a list of texts.');
  if (!['off', 'text', 'speech'].includes(policy.preemptive))
    throw new RangeError(`policy.preemptive must be off, text or speech, not ${String(policy.preemptive)}.`);
  return policy;
}

function checkNames(place: string, given: object, known: object): void {
  if (typeof given !== 'object' || given === null) throw new TypeError(`${place} must be an object.`);
  const unknown = Object.keys(given).find(name => !Object.hasOwn(known, name));
  if (unknown !== undefined) throw new TypeError(`${place} does not know "${unknown}". It takes ${Object.keys(known).join(', ')}.`);
}

function named(group: string, values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${group}.${name}`, value]));
}

const OPEN_ENDED =
  /(?:[,;:–—…、，；：،؛-]|\.\.\.|\b(?:and|or|but|so|because|if|when|the|a|an|to|of|for|with|from|in|on|at|by|my|your|is|are|was|were|um|uh|er))$/iu;

/** Whether words sound as if more will come. Full stops are no proof: speech to text puts them behind anything. */
export function looksFinished(text: string): boolean {
  const words = text.trim().replace(/(?<!\.)\.$/u, '');
  return words !== '' && !OPEN_ENDED.test(words);
}
