import type { ImageAdapter, ImageResponse } from '../capabilities/images.js';
import { imagePart } from '../data/parts.js';
import { createEngine } from '../engine.js';
import { type ConformanceCase, caseMaker, expectEqual, frozen } from './conformance.js';
import { expectCompleted, type MakeAdapter, type RequestScenario, requestCases } from './request-conformance.js';

const PICTURE = imagePart(new Uint8Array([137, 80, 78, 71]), 'image/png');
const ANSWER: ImageResponse = { images: [PICTURE] };
const EDIT = frozen({ prompt: 'Make it night', images: [PICTURE] });

/** The contract of `ImageAdapter` as cases for any test runner. `for (const { name, run } of imageConformance(make)) test(name, run)` */
export function imageConformance(make: MakeAdapter<ImageAdapter, RequestScenario<ImageResponse>>): ConformanceCase[] {
  const testOf = caseMaker(make);
  /** Cases of editing pass for an adapter that cannot. */
  const edits: typeof make = async scenario => {
    const test = await make(scenario);
    return test?.adapter.editImage ? test : undefined;
  };
  return [
    ...requestCases(make, 'generateImage', ANSWER, (adapter, context) =>
      adapter.generateImage(frozen({ prompt: 'A lighthouse' }), context),
    ),
    ...requestCases(edits, 'editImage', ANSWER, (adapter, context) => adapter.editImage!(EDIT, context)),
    testOf('generateImage: an engine takes its answers', { kind: 'answer', answer: ANSWER }, async ({ adapter }) => {
      const outcome = await createEngine({ images: adapter, retry: false }).generateImage('A lighthouse');
      expectCompleted(outcome);
      expectEqual(
        outcome.images.map(({ data }) => data),
        [PICTURE.data],
        'the pictures',
      );
    }),
  ];
}
