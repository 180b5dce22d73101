import type { EmbeddingAdapter, EmbeddingResponse } from '../capabilities/embeddings.js';
import { createEngine } from '../engine.js';
import { type ConformanceCase, caseMaker, contextFor, expectEqual, expectThat, frozen } from './conformance.js';
import { expectCompleted, type MakeAdapter, type RequestScenario, requestCases } from './request-conformance.js';

const INPUT = ['one', 'zwei', '三'];
const VECTORS = [[1, 0.5], [0, -1], [0.25, 3e-5]]; // biome-ignore format: a table
const embeddings = VECTORS.map((vector, index) => ({ index, vector }));

/**
 * The contract of `EmbeddingAdapter` as cases for any test runner. The server of a scenario answers three texts.
 *
 * ```ts
 * for (const { name, run } of embeddingConformance(scenario => underTest(scenario))) test(name, run);
 * ```
 */
export function embeddingConformance(make: MakeAdapter<EmbeddingAdapter, RequestScenario<EmbeddingResponse>>): ConformanceCase[] {
  const testOf = caseMaker(make);
  const ask = (adapter: EmbeddingAdapter, context: Parameters<EmbeddingAdapter['embed']>[1]) =>
    adapter.embed(frozen({ input: INPUT }), context);
  return [
    ...requestCases(make, 'embed', { embeddings }, ask),
    testOf('embed: it says how many texts it takes', { kind: 'answer', answer: { embeddings } }, async ({ adapter }) => {
      expectThat(adapter.maxBatchSize >= 1, `maxBatchSize is ${adapter.maxBatchSize}`);
    }),
    testOf(
      'embed: each vector has the place of its text',
      { kind: 'answer', answer: { embeddings: [...embeddings].reverse() } },
      async ({ adapter }, { signal }) => {
        const told = await ask(adapter, contextFor(signal));
        expectEqual(
          [...told.embeddings].sort((a, b) => a.index - b.index),
          embeddings,
          'the embeddings by index',
        );
      },
    ),
    testOf('embed: an engine takes its answers', { kind: 'answer', answer: { embeddings } }, async ({ adapter }) => {
      const outcome = await createEngine({ embeddings: adapter, retry: false }).embed(INPUT);
      expectCompleted(outcome);
      expectEqual(outcome.vectors, VECTORS, 'the vectors');
    }),
  ];
}
