import type { ModerationAdapter, ModerationRequest, ModerationResponse, ModerationResult } from '../capabilities/moderation.js';
import { Script, type Scripted, type Turns } from './scripted-turns.js';

/** Verdicts in the order of the items; `true` alone is flagged for `harm`, `false` is clean. Or a whole response. */
export type ScriptedVerdicts = readonly (boolean | ModerationResult)[] | ModerationResponse;
export interface ScriptedModeration extends ModerationAdapter, Scripted<ModerationRequest> {}

/**
 * A moderation model for tests. One call more than there are turns fails with `script_exhausted`.
 *
 * ```ts
 * const moderation = scriptedModeration([[false, true]]);
 * const outcome = await createEngine({ moderation }).moderate(['Hello', 'I will find you']);
 * ```
 */
export function scriptedModeration(
  turns: Turns<ModerationRequest, ScriptedVerdicts>,
  options: { readonly model?: string; readonly maxBatchSize?: number; readonly images?: boolean } = {},
): ScriptedModeration {
  const { model = 'scripted', maxBatchSize = 100, images = true } = options;
  const script = new Script(turns);
  return {
    provider: 'scripted',
    model,
    maxBatchSize,
    images,
    requests: script.requests,
    get remaining() {
      return script.remaining;
    },
    async moderate(request, context) {
      const { input } = request;
      const answer = await script.answer(request, context, [
        input.length === 0 && 'there is nothing to judge',
        input.some(item => item.length === 0) && 'an item is empty',
        input.length > maxBatchSize && `${input.length} items are more than ${maxBatchSize}`,
        input.length > 1 && input.some(item => typeof item !== 'string') && 'an item of parts must be alone',
        !images && input.some(item => typeof item !== 'string' && item.some(({ type }) => type === 'image')) && 'there is an image',
      ]);
      if ('results' in answer) return answer;
      return { results: answer.map((verdict, index) => ({ index, ...whole(verdict) })), model: request.model ?? model };
    },
  };
}

function whole(verdict: boolean | ModerationResult): ModerationResult {
  if (typeof verdict !== 'boolean') return verdict;
  return { flagged: verdict, categories: { harm: verdict }, scores: { harm: verdict ? 1 : 0 } };
}
