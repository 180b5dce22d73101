// Moderation, classification, reranking.
import {
  AdapterError,
  choiceQuestion,
  completed,
  createEngine,
  imagePart,
  type ModerationAdapter,
  type Questions,
  scoreQuestion,
  textPart,
  yesNoQuestion,
} from '@antiphon/engine';
import { scriptedClassification, scriptedModeration, scriptedRerank } from '@antiphon/engine/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';

const PICTURE = imagePart(new Uint8Array([1]), 'image/png');

describe('moderation', () => {
  test('texts go in batches, items of parts alone, verdicts stand in the order of the items', async () => {
    const moderation = scriptedModeration(({ input }) => input.map(item => (typeof item === 'string' ? item.includes('bad') : true)), {
      maxBatchSize: 2,
    });
    const outcome = completed(
      await createEngine({ moderation }).moderate(['bad 1', [textPart('look'), PICTURE], 'good', 'bad 2', [textPart('just text')]]),
    );
    expect(outcome.results.map(({ flagged }) => flagged)).toEqual([true, true, false, true, true]);
    expect(outcome.flagged).toBe(true);
    expect(moderation.requests.map(({ input }) => input.length)).toEqual([2, 1, 1, 1]);
  });

  test('texts that are too long together are judged in halves', async () => {
    const tooLong = new AdapterError('context_length_exceeded', 'Too long.');
    const moderation = scriptedModeration([tooLong, [false, true], [false]]);
    const outcome = completed(await createEngine({ moderation }).moderate(['a', 'b', 'c']));
    expect(outcome.results.map(({ flagged }) => flagged)).toEqual([false, true, false]);
    expect(moderation.requests.map(({ input }) => input)).toEqual([['a', 'b', 'c'], ['a', 'b'], ['c']]);
  });

  test('an image for a model that sees none is refused before it is sent', async () => {
    const moderation = scriptedModeration([], { images: false });
    const outcome = await createEngine({ moderation }).moderate(['a', [PICTURE]]);
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'unsupported' }, results: [null, null] });
    expect(outcome.status === 'failed' && outcome.error.message).toContain('input[1] has an image');
    expect(moderation.requests).toEqual([]);
  });

  test('a verdict that is missing is null, never clean', async () => {
    const moderation = scriptedModeration([[false], new AdapterError('invalid_request', 'No.')], { maxBatchSize: 1 });
    const outcome = await createEngine({ moderation }).moderate(['a', 'b'], { concurrency: 1 });
    expect(outcome).toMatchObject({ status: 'failed', results: [{ flagged: false }, null] });
    expect('flagged' in outcome).toBe(false);
  });

  const verdict = { index: 0, flagged: false, categories: {}, scores: {} };
  test.each<readonly [string, unknown]>([
    ['no verdict', []],
    ['two', [verdict, verdict]],
    ['a verdict that does not say', [{ ...verdict, flagged: undefined }]],
    ['a verdict of text', [{ ...verdict, flagged: 'false' }]],
    ['categories of text', [{ ...verdict, categories: { harm: 'no' } }]],
    ['scores of text', [{ ...verdict, scores: { harm: '0.1' } }]],
    ['a place that is none', [{ ...verdict, index: 1 }]],
  ])('%s is no answer', async (_, results) => {
    const moderation: ModerationAdapter = { provider: 'mine', model: 'm', maxBatchSize: 9, moderate: async () => ({ results }) as never };
    expect(await createEngine({ moderation }).moderate('hello')).toMatchObject({
      status: 'failed',
      error: { reason: 'malformed_response' },
    });
  });

  test('every fault of a request is listed', async () => {
    const error = await createEngine({ moderation: scriptedModeration([]) })
      .moderate(['', 5, [], [{ type: 'image', mediaType: 'png', data: '§' }, { type: 'text', text: '' }, { type: 'audio' }]] as never)
      .catch(thrown => thrown);
    expect(error.issues.map(({ path }: { path: string }) => path)).toEqual([
      'input[0]',
      'input[1]',
      'input[2]',
      'input[3][0].mediaType',
      'input[3][0].data',
      'input[3][1]',
      'input[3][2]',
    ]);
  });
});

describe('classification', () => {
  const questions = {
    mood: choiceQuestion('Which mood?', ['glad', 'angry']),
    team: choiceQuestion('Which team?', { sales: 'wants to buy', support: 'has a problem' }),
    anger: scoreQuestion('How angry?', ['calm', 'annoyed', 'furious']),
    urgent: yesNoQuestion('Must somebody act now?', { yes: 'harm within a day' }),
  };
  const answers = { mood: 'angry', team: 'support', anger: 1.5, urgent: 0.8 };

  test('answers have the types of their questions', async () => {
    const classification = scriptedClassification([{ answers, usage: { inputTokens: 9 } }]);
    const outcome = completed(await createEngine({ classification }).classify('Where is it?!', { questions }));
    expectTypeOf(outcome.answers.mood.choice).toEqualTypeOf<'glad' | 'angry'>();
    expectTypeOf(outcome.answers.team.probabilities).toEqualTypeOf<{ readonly sales: number; readonly support: number }>();
    expectTypeOf(outcome.answers.anger.score).toBeNumber();
    expectTypeOf(outcome.answers.urgent.yes).toBeNumber();
    expect(outcome.answers).toEqual({
      mood: { type: 'choice', choice: 'angry', probabilities: { glad: 0, angry: 1 }, confidence: 1 },
      team: { type: 'choice', choice: 'support', probabilities: { sales: 0, support: 1 }, confidence: 1 },
      anger: { type: 'score', score: 1.5, probabilities: [0, 0.5, 0.5], confidence: 1 },
      urgent: { type: 'yes_no', yes: 0.8 },
    });
    expect(outcome.usage).toEqual({ inputTokens: 9 });
  });

  test('many questions go in batches; answers stand in the order of the questions; a failure keeps some', async () => {
    const many = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`q${i}`, yesNoQuestion(`${i}?`)]));
    const all = Object.fromEntries(Object.keys(many).map(id => [id, true]));
    const classification = scriptedClassification([{ answers: all }, { answers: all }, new AdapterError('invalid_request', 'No.')], {
      maxQuestions: 2,
    });
    const outcome = await createEngine({ classification }).classify({ state: [{ said: 'hi' }], questions: many }, { concurrency: 1 });
    expect(outcome.status).toBe('failed');
    expect(Object.keys(outcome.answers)).toEqual(['q0', 'q1', 'q2', 'q3']);
    expect(classification.requests.map(request => Object.keys(request.questions).length)).toEqual([2, 2, 1]);
  });

  test('an id is only a name', async () => {
    const hostile = JSON.parse(
      '{"__proto__":{"type":"yes_no","instructions":"?"},"constructor":{"type":"yes_no","instructions":"?"}}',
    ) as Questions;
    const classification = scriptedClassification(({ questions: asked }) => ({
      answers: Object.fromEntries(Object.keys(asked).map(id => [id, 0.5])),
    }));
    const outcome = completed(await createEngine({ classification }).classify('x', { questions: hostile }));
    expect(Object.keys(outcome.answers)).toEqual(['__proto__', 'constructor']);
    expect(JSON.stringify(outcome.answers)).toContain('"__proto__":{"type":"yes_no","yes":0.5}');
  });

  test('what a classifier cannot take is refused whole, before it is sent', async () => {
    const classification = scriptedClassification([], { maxOptions: 1, maxLevels: 2 });
    const outcome = await createEngine({ classification }).classify('x', { questions });
    expect(outcome.status === 'failed' && outcome.error.message).toMatch(/"mood".*1 options.*"team".*"anger".*2 levels/);
    expect(classification.requests).toEqual([]);
  });

  test.each<readonly [string, unknown]>([
    ['an option that is none', { ...answers, mood: { type: 'choice', choice: 'sad', probabilities: { glad: 1, angry: 0 } } }],
    ['another type', { ...answers, mood: { type: 'yes_no', yes: 1 } }],
    ['a missing answer', { ...answers, urgent: undefined }],
    ['a score above the ladder', { ...answers, anger: { type: 'score', score: 3, probabilities: [0, 0, 1] } }],
    ['too few probabilities', { ...answers, anger: { type: 'score', score: 1, probabilities: [1] } }],
    ['a probability above one', { ...answers, urgent: { type: 'yes_no', yes: 1.2 } }],
  ])('%s is no answer', async (_, given) => {
    const classification = { provider: 'mine', model: 'm', classify: async () => ({ answers: given }) as never };
    expect(await createEngine({ classification }).classify('x', { questions })).toMatchObject({
      status: 'failed',
      error: { reason: 'malformed_response' },
    });
  });

  test('every fault of a request is listed', async () => {
    const bad = {
      a: { type: 'poll' },
      b: { type: 'choice', instructions: '', options: { one: 'x' } },
      c: { type: 'score', instructions: 'How?', levels: ['only'] },
      d: { type: 'yes_no' },
    };
    const error = await createEngine({ classification: scriptedClassification([]) })
      .classify({ state: '', questions: bad } as never)
      .catch(thrown => thrown);
    expect(error.issues.map(({ path }: { path: string }) => path)).toEqual([
      'state',
      'questions.a',
      'questions.b.instructions',
      'questions.b.options',
      'questions.c.levels',
      'questions.d.instructions',
    ]);
  });
});

describe('reranking', () => {
  const documents = ['Sun', 'Hail', 'Wind', 'Fog'];

  test('the best come first, equal ones in their order, as many as asked for', async () => {
    const rerank = scriptedRerank([[0.1, 0.9, 0.5, 0.5]]);
    const { results } = completed(await createEngine({ rerank }).rerank('storms', { documents, topN: 3 }));
    expect(results).toEqual([
      { index: 1, score: 0.9, document: 'Hail' },
      { index: 2, score: 0.5, document: 'Wind' },
      { index: 3, score: 0.5, document: 'Fog' },
    ]);
  });

  test('more documents than fit are refused: scores of two requests need not compare', async () => {
    const rerank = scriptedRerank([], { maxDocuments: 3 });
    expect(await createEngine({ rerank }).rerank('storms', { documents })).toMatchObject({
      status: 'failed',
      error: { reason: 'unsupported' },
    });
  });

  test.each<readonly [string, unknown]>([
    ['too few', [{ index: 0, score: 1 }]],
    ['one twice', [0, 0, 1, 2].map(index => ({ index, score: 1 }))],
    ['a place that is none', [0, 1, 2, 4].map(index => ({ index, score: 1 }))],
    ['a score that is none', [0, 1, 2, 3].map(index => ({ index, score: 'high' }))],
  ])('%s is no answer', async (_, results) => {
    const rerank = { provider: 'mine', model: 'm', rerank: async () => ({ results }) as never };
    expect(await createEngine({ rerank }).rerank('storms', { documents })).toMatchObject({
      status: 'failed',
      error: { reason: 'malformed_response' },
    });
  });
});
