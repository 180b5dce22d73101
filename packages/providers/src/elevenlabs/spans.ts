import { isRecord, type TranscriptSpan } from '@antiphon/engine';

const KINDS: ReadonlyMap<unknown, TranscriptSpan['kind']> = new Map([
  ['word', 'word'],
  ['spacing', 'spacing'],
  ['audio_event', 'sound'],
]);

/** Words, the spaces between them and sounds; undefined when the answer has no list of them. */
export function spansOf(words: unknown): TranscriptSpan[] | undefined {
  if (!Array.isArray(words)) return undefined;
  return words.filter(isRecord).map(({ text, type, start, end, logprob, speaker_id: speaker }) => ({
    text: typeof text === 'string' ? text : '',
    kind: KINDS.get(type) ?? 'other',
    ...(typeof start === 'number' ? { startMs: Math.round(start * 1000) } : {}),
    ...(typeof end === 'number' ? { endMs: Math.round(end * 1000) } : {}),
    ...(typeof logprob === 'number' ? { logprob } : {}),
    ...(typeof speaker === 'string' ? { speaker } : {}),
  }));
}
