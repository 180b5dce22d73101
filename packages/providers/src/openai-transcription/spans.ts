import { isRecord, type TranscriptionSettings, type TranscriptSpan } from '@antiphon/engine';

/** Words with times and tokens with log-probabilities, as far as they were asked for; undefined when the answer has none of them. */
export function spansOf(answer: Record<string, unknown>, asked: TranscriptionSettings, silence: boolean): TranscriptSpan[] | undefined {
  if (asked.timestamps !== true && asked.logprobs !== true) return undefined;
  const words = asked.timestamps === true ? wordsOf(answer.words) : undefined;
  const tokens = asked.logprobs === true ? tokensOf(answer.logprobs) : undefined;
  return words ?? tokens ?? (silence ? [] : undefined);
}

function wordsOf(words: unknown): TranscriptSpan[] | undefined {
  if (!Array.isArray(words)) return undefined;
  return words.filter(isRecord).map(({ word, start, end }) => ({
    text: typeof word === 'string' ? word.trim() : '',
    kind: 'word',
    ...(typeof start === 'number' ? { startMs: Math.round(start * 1000) } : {}),
    ...(typeof end === 'number' ? { endMs: Math.round(end * 1000) } : {}),
  }));
}

/** A token may be a part of a character: then its text is of replacement characters, as the server gives it. */
export function tokensOf(logprobs: unknown): TranscriptSpan[] | undefined {
  if (!Array.isArray(logprobs)) return undefined;
  return logprobs.filter(isRecord).map(({ token, logprob }) => ({
    text: typeof token === 'string' ? token : '',
    kind: 'token',
    ...(typeof logprob === 'number' ? { logprob } : {}),
  }));
}
