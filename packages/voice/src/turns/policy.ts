import { defaultSegmenterPolicy, type SegmenterPolicy } from '../listening/segmenter.js';

/** When a turn ends, when the agent yields, what it says when it fails. Times in milliseconds. */
export interface TurnPolicy {
  readonly endpoint: {
    /** Silence after words that look finished. */
    readonly finishedMs: number;
    /** Silence after words that do not. */
    readonly unfinishedMs: number;
  };
  readonly interrupt: {
    /** This much speech over the agent stops it, silences left out; `false` lets it finish. */
    readonly pauseMs: number | false;
  };
  /** Spoken when a reply fails before anything of it was heard; empty says nothing. */
  readonly apology: string;
  readonly vad: SegmenterPolicy;
}

export const defaultTurnPolicy: TurnPolicy = {
  endpoint: { finishedMs: 300, unfinishedMs: 1500 },
  interrupt: { pauseMs: 300 },
  apology: 'Sorry, I could not answer that. Please try again.',
  vad: defaultSegmenterPolicy,
};

/** A policy with some values replaced, group by group. */
export type PolicyChanges = { readonly [K in keyof TurnPolicy]?: TurnPolicy[K] extends object ? Partial<TurnPolicy[K]> : TurnPolicy[K] };

export function turnPolicy(changes: PolicyChanges = {}): TurnPolicy {
  const base = defaultTurnPolicy;
  const policy: TurnPolicy = {
    endpoint: { ...base.endpoint, ...changes.endpoint },
    interrupt: { ...base.interrupt, ...changes.interrupt },
    apology: changes.apology ?? base.apology,
    vad: { ...base.vad, ...changes.vad },
  };
  for (const [name, ms] of Object.entries(policy.endpoint)) {
    if (!(ms >= 0)) throw new RangeError(`policy.endpoint.${name} must be milliseconds from 0, not ${ms}.`);
  }
  return policy;
}

const OPEN_ENDED =
  /(?:[,;:–—…-]|\.\.\.|\b(?:and|or|but|so|because|if|when|the|a|an|to|of|for|with|from|in|on|at|by|my|your|is|are|was|were|um|uh|er))$/iu;

/** Whether words sound as if more will come. Full stops are no proof: speech to text puts them behind anything. */
export function looksFinished(text: string): boolean {
  const words = text.trim().replace(/(?<!\.)\.$/u, '');
  return words !== '' && !OPEN_ENDED.test(words);
}
