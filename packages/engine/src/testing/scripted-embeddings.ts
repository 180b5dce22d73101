import type { EmbeddingAdapter, EmbeddingRequest, EmbeddingResponse, Vector } from '../capabilities/embeddings.js';
import { Script, type Scripted, type Turns } from './scripted-turns.js';

/** Vectors in the order of the texts, or a whole response. */
export type ScriptedVectors = readonly Vector[] | EmbeddingResponse;
export interface ScriptedEmbeddings extends EmbeddingAdapter, Scripted<EmbeddingRequest> {}

/**
 * An embedding model for tests. One turn answers one request, so a list above `maxBatchSize` (default 100) takes several. One call more than
 * there are turns fails with `script_exhausted`; empty texts and batches that are too large fail as a real provider fails them.
 *
 * ```ts
 * const embeddings = scriptedEmbeddings([[[1, 0], [0, 1]]]);
 * const outcome = await createEngine({ embeddings }).embed(['one', 'two']);
 * ```
 */
export function scriptedEmbeddings(
  turns: Turns<EmbeddingRequest, ScriptedVectors>,
  options: { readonly model?: string; readonly maxBatchSize?: number } = {},
): ScriptedEmbeddings {
  const { model = 'scripted', maxBatchSize = 100 } = options;
  const script = new Script(turns);
  return {
    provider: 'scripted',
    model,
    maxBatchSize,
    requests: script.requests,
    get remaining() {
      return script.remaining;
    },
    async embed(request, context) {
      const answer = await script.answer(request, context, [
        request.input.length === 0 && 'there is no text',
        request.input.includes('') && 'a text is empty',
        request.input.length > maxBatchSize && `${request.input.length} texts are more than ${maxBatchSize}`,
      ]);
      if ('embeddings' in answer) return answer;
      return { embeddings: answer.map((vector, index) => ({ index, vector })), model: request.model ?? model };
    },
  };
}
