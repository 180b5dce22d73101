import {
  type ChoiceAnswer,
  type ClassificationAdapter,
  type ClassificationResponse,
  choiceQuestion,
  createEngine,
  type Question,
  scoreQuestion,
  yesNoQuestion,
} from '@antiphon/engine';
import { type AdapterUnderTest, classificationConformance, type RequestScenario } from '@antiphon/engine/testing';
import { type Fetch, logprobClassification, zeroShotClassification } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { serve } from './support/server.js';

type Body = Record<string, unknown> & {
  messages: { content: string }[];
  inputs: unknown;
  parameters: { candidate_labels: string[]; hypothesis_template: string };
};
type Scenario = RequestScenario<ClassificationResponse>;
type Answers = Record<string, { type: string; probabilities?: Record<string, number>; yes?: number }>;

/** The weights that a scenario's answer stands for, in the order in which an adapter asks for them. */
function weightsOf({ type, probabilities = {}, yes = 0 }: Answers[string]): number[] {
  return type === 'yes_no' ? [yes, 1 - yes] : Object.values(probabilities);
}

/** One place of an answer in OpenAI's dialect; letters without probability are not among those told. */
function place(weights: readonly number[], prefix = '') {
  const top = weights.flatMap((weight, i) => (weight > 0 ? [{ token: `${prefix}${'ABCDEFGHIJ'[i]}`, logprob: Math.log(weight) }] : []));
  const best = [...top].sort((a, b) => b.logprob - a.logprob)[0] ?? { token: 'Hm', logprob: 0 };
  return { ...best, top_logprobs: top };
}

const completion = (places: object[] | null, usage?: object) => ({
  id: 'r1',
  model: 'm-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'A' }, finish_reason: 'length', logprobs: places && { content: places } }],
  ...(usage ? { usage } : {}),
});

function harness(scenario: Scenario, answer: (answers: Answers, body: Body, usage: object | undefined) => unknown) {
  const seen = { requests: 0, open: 0 };
  const fetch: Fetch = async (_url, init) => {
    seen.requests++;
    if (scenario.kind === 'failure') {
      const headers = scenario.retryAfterMs === undefined ? {} : { 'retry-after': String(scenario.retryAfterMs / 1000) };
      return new Response(JSON.stringify({ error: { message: scenario.message } }), { status: scenario.status, headers });
    }
    if (scenario.kind === 'silent') {
      seen.open++;
      return new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => {
          seen.open--;
          reject(init.signal?.reason);
        });
      });
    }
    const { answers, usage } = scenario.answer;
    const told = usage?.inputTokens === undefined ? undefined : { prompt_tokens: usage.inputTokens };
    return Response.json(answer(answers as unknown as Answers, JSON.parse(String(init?.body)), told));
  };
  return { fetch, requests: () => seen.requests, open: () => seen.open };
}

/** Which of the scenario's questions a prompt asks. */
const IDS = { mood: 'Which mood?', anger: 'How angry?', urgent: 'Must somebody act now?' };

describe('logprobClassification holds the contract', () => {
  const make = (scenario: Scenario): AdapterUnderTest<ClassificationAdapter> => {
    const { fetch, ...seen } = harness(scenario, (answers, body, usage) => {
      const prompt = body.messages[0]?.content ?? '';
      const asked = Object.entries(IDS).filter(([, words]) => prompt.includes(words));
      return completion(
        asked.flatMap(([id]) => [place(weightsOf(answers[id]!)), { token: '\n', logprob: 0, top_logprobs: [] }]),
        usage,
      );
    });
    return { adapter: logprobClassification({ model: 'm', baseURL: 'http://model.test/v1', fetch }), ...seen };
  };
  for (const { name, run } of classificationConformance(make)) test(name, run);
});

describe('zeroShotClassification holds the contract, with one question in a request', () => {
  const make = (scenario: Scenario): AdapterUnderTest<ClassificationAdapter> => {
    const { fetch, ...seen } = harness(scenario, (answers, { parameters }) => {
      const id = Object.entries(IDS).find(([, words]) => parameters.hypothesis_template.includes(words))![0];
      const weights = weightsOf(answers[id]!);
      // The server sorts by score.
      return parameters.candidate_labels.map((label, i) => ({ label, score: weights[i]! })).sort((a, b) => b.score - a.score);
    });
    const adapter = zeroShotClassification({ model: 'nli', baseURL: 'http://model.test/models', fetch });
    const first = (questions: object) => Object.fromEntries(Object.entries(questions).slice(0, 1));
    return {
      adapter: {
        ...adapter,
        classify: (request, context) => adapter.classify({ ...request, questions: first(request.questions) }, context),
      },
      ...seen,
    };
  };
  // The wire tells no usage.
  for (const { name, run } of classificationConformance(make).filter(({ name }) => !name.includes('usage of zero'))) test(name, run);
});

const mood = choiceQuestion('Which mood?', { glad: 'is content', angry: '' });
const classify = (adapter: ClassificationAdapter, question: Question) =>
  createEngine({ classification: adapter, retry: false }).classify('Where is my parcel?!', { questions: { q: question } });

describe('log-probabilities', () => {
  const answering = (places: object[] | null, more: object = {}) => {
    const bodies: Body[] = [];
    const fetch: Fetch = async (_url, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return Response.json(completion(places));
    };
    return { bodies, adapter: logprobClassification({ model: 'm', baseURL: 'http://model.test/v1', fetch, ...more }) };
  };

  test('the request asks for one letter and what else it might have been', async () => {
    const { bodies, adapter } = answering([place([0.25, 0.75])], { topLogprobs: 5 });
    await classify(adapter, mood);
    expect(bodies[0]).toMatchObject({ max_tokens: 1, temperature: 0, logprobs: true, top_logprobs: 5 });
    expect(bodies[0]?.messages[0]?.content).toContain('A: glad (is content)\nB: angry');
    expect(bodies[0]?.messages[1]?.content).toBe('Where is my parcel?!');
  });

  test.each<[string, Question, object[], object, number]>([
    ['a choice', mood, [place([0.25, 0.75])], { choice: 'angry', probabilities: { glad: 0.25, angry: 0.75 }, confidence: 0.75 }, 0],
    ['spaces before the letter', mood, [place([0.75, 0.25], ' ')], { choice: 'glad', confidence: 0.75 }, 0],
    ['a letter that is not told', mood, [place([0, 1])], { choice: 'angry', probabilities: { glad: 0, angry: 1 } }, 0],
    ['weight on other tokens is shared out', mood, [place([0.4, 0.4])], { probabilities: { glad: 0.5, angry: 0.5 }, confidence: 0.4 }, 0],
    ['little weight on letters', mood, [place([0.1, 0.3])], { probabilities: { glad: 0.25, angry: 0.75 }, confidence: 0.3 }, 1],
    [
      'a score',
      scoreQuestion('How angry?', ['calm', 'cross', 'furious']),
      [place([0.2, 0.2, 0.6])],
      { score: 1.4, probabilities: [0.2, 0.2, 0.6] },
      0,
    ],
    ['yes or no', yesNoQuestion('Urgent?'), [place([0.8, 0.2])], { yes: 0.8 }, 0],
  ])('%s', async (_, question, places, answer, warnings) => {
    const outcome = await classify(answering(places).adapter, question);
    expect(outcome).toMatchObject({ status: 'completed', answers: { q: { ...answer, basis: 'logprobs' } } });
    expect(outcome.warnings.length).toBe(warnings);
  });

  test.each<[string, object[] | null, string]>([
    ['no log-probabilities', null, 'unsupported'],
    ['an empty list of them', [], 'unsupported'],
    ['none of the letters', [place([])], 'malformed_response'],
  ])('%s is a failure', async (_, places, reason) => {
    expect(await classify(answering(places).adapter, mood)).toMatchObject({ status: 'failed', error: { reason } });
  });

  test('more options than the server tells tokens are refused before anything is sent', async () => {
    const { bodies, adapter } = answering([place([1])], { topLogprobs: 2 });
    const outcome = await classify(adapter, choiceQuestion('Which?', ['a', 'b', 'c']));
    expect(outcome).toMatchObject({ status: 'failed', error: { reason: 'unsupported' } });
    expect(bodies).toEqual([]);
    expect(() => answering(null, { topLogprobs: 1 })).toThrow(/topLogprobs/);
  });

  test('over a real socket; hosted servers get their own field and a key, and errors never hold it', async () => {
    const server = await serve((res, _req, n) => {
      if (n > 1)
        return res
          .writeHead(401, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: { message: 'no: sk-secret-123456789' } }));
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion([place([0.5, 0.5])])));
    });
    const adapter = logprobClassification({ model: 'm', baseURL: server.url(), apiKey: 'sk-secret-123456789' });
    expect((await classify(adapter, mood)).status).toBe('completed');
    const failed = await classify(adapter, mood);
    await server.close();
    expect(server.requests[0]).toMatchObject({ url: '/x/v1/chat/completions', headers: { authorization: 'Bearer sk-secret-123456789' } });
    expect(failed).toMatchObject({ status: 'failed', error: { reason: 'authentication_failed' } });
    expect(JSON.stringify(failed)).not.toContain('sk-secret');
  });
});

describe('zero-shot', () => {
  const answering = (value: unknown) => {
    const asked: { url: string; body: Body }[] = [];
    const fetch: Fetch = async (url, init) => {
      asked.push({ url: String(url), body: JSON.parse(String(init?.body)) });
      return Response.json(value);
    };
    return { asked, adapter: zeroShotClassification({ model: 'facebook/bart-large-mnli', apiKey: 'k', fetch }) };
  };

  test.each<[string, unknown]>([
    [
      'today',
      [
        { label: 'angry', score: 0.9 },
        { label: 'glad (is content)', score: 0.1 },
      ],
    ],
    ['before', { sequence: 's', labels: ['angry', 'glad (is content)'], scores: [0.9, 0.1] }],
    ['before, in a list', [{ sequence: 's', labels: ['angry', 'glad (is content)'], scores: [0.9, 0.1] }]],
  ])('the answer as it is written %s', async (_, value) => {
    const { asked, adapter } = answering(value);
    const outcome = await classify(adapter, mood);
    const answer: Partial<ChoiceAnswer<'glad' | 'angry'>> = { choice: 'angry', probabilities: { glad: 0.1, angry: 0.9 } };
    expect(outcome).toMatchObject({ status: 'completed', answers: { q: { ...answer, basis: 'entailment' } } });
    expect(asked[0]).toEqual({
      url: 'https://router.huggingface.co/hf-inference/models/facebook/bart-large-mnli',
      body: {
        inputs: 'Where is my parcel?!',
        parameters: { candidate_labels: ['glad (is content)', 'angry'], hypothesis_template: 'Which mood? {}', multi_label: false },
      },
    });
  });

  test.each([[[]], [{}], [[{ label: 'angry', score: 0.9 }]], [[{ label: 'angry', score: 'high' }]]])('%j is malformed', async value => {
    expect(await classify(answering(value).adapter, mood)).toMatchObject({ status: 'failed', error: { reason: 'malformed_response' } });
  });
});
