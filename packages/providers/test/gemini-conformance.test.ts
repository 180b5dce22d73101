// The engine's conformance kits on the adapters for Gemini, over an in-memory server that speaks its protocol.
import {
  type AdapterUnderTest,
  adapterConformance,
  type ChatScenario,
  type ChatUnderTest,
  embeddingConformance,
  imageConformance,
  type RequestScenario,
  transcriptionConformance,
} from '@antiphon/engine/testing';
import { type GeminiOptions, gemini, geminiEmbeddings, geminiImages, geminiTranscription } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { call, completed, created, delta, output, thought } from './support/interactions-wire.js';

const FINISH = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS' } as const;
type Api = 'generate-content' | 'interactions';
const BASE = { model: 'm', baseURL: 'http://model.test' };

const chunk = (...parts: object[]) => ({ candidates: [{ content: { role: 'model', parts } }], responseId: 'r1' });

/** The usage as the server tells it; undefined when it tells none. */
function usageOf(usage: { readonly inputTokens?: number; readonly outputTokens?: number } | undefined) {
  if (usage?.inputTokens === undefined) return undefined;
  const { inputTokens = 0, outputTokens = 0 } = usage;
  return { promptTokenCount: inputTokens, candidatesTokenCount: outputTokens, totalTokenCount: inputTokens + outputTokens };
}

function* wireOf({ text = [], reasoning = [], toolCalls = [], finish, usage, ends }: ChatScenario): Generator<object> {
  for (const thought of reasoning) yield chunk({ text: thought, thought: true });
  for (const piece of text) yield chunk({ text: piece });
  for (const { id, name, rawArguments } of toolCalls) {
    if (finish === 'length') yield chunk({ functionCall: { id, name, willContinue: true } });
    else yield chunk({ functionCall: { id, name, args: rawArguments === '' ? undefined : JSON.parse(rawArguments) } });
  }
  while (ends === 'endless') yield chunk({ text: text.at(-1) });
  if (ends !== 'complete') return;
  yield { candidates: [{ content: { parts: [{ text: '' }] }, finishReason: FINISH[finish] }], usageMetadata: usageOf(usage) };
}

const STATUSES = { stop: 'completed', tool_calls: 'requires_action', length: 'incomplete' } as const;

/** The same scenario as an interaction. */
function* stepsOf({ text = [], reasoning = [], toolCalls = [], finish, usage, ends }: ChatScenario): Generator<object> {
  let index = 0;
  yield created();
  for (const words of reasoning) yield* thought(index++, '', words);
  if (text.length > 0) yield* output(index, ...text).slice(0, -1);
  while (ends === 'endless') yield delta(index, { type: 'text', text: text.at(-1) });
  for (const { id, name, rawArguments } of toolCalls) {
    const events = call(++index, id ?? '', name, rawArguments);
    // What is cut off never comes to its end.
    yield* finish === 'length' ? events.slice(0, -1) : events;
  }
  if (ends !== 'complete') return;
  const { inputTokens, outputTokens } = usage ?? {};
  const account = usage && { total_input_tokens: inputTokens, total_output_tokens: outputTokens };
  yield completed(STATUSES[finish], { usage: account });
}

/** Arguments on this wire are JSON already: a server cannot get them wrong. */
function isPossible({ toolCalls = [], finish }: ChatScenario): boolean {
  if (finish === 'length') return true;
  return toolCalls.every(({ rawArguments }) => rawArguments === '' || isJson(rawArguments));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function failed({ status, message, retryAfterMs }: { status: number; message: string; retryAfterMs?: number }): Response {
  const details =
    retryAfterMs === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterMs / 1000}s` }];
  return new Response(JSON.stringify({ error: { code: status, message, details } }), { status });
}

function chatUnderTest(scenario: ChatScenario, api: Api = 'generate-content'): ChatUnderTest | undefined {
  if (api === 'generate-content' && !isPossible(scenario)) return undefined;
  const seen = { requests: 0, open: 0, sent: 0 };
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    seen.requests++;
    const { failure, ends } = scenario;
    if (failure) return failed(failure);
    seen.open++;
    const wire = (api === 'interactions' ? stepsOf : wireOf)(scenario);
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const { done, value } = wire.next();
          if (!done) {
            seen.sent++;
            controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\r\n\r\n`));
            return;
          }
          // Nothing comes, and the connection stays.
          if (ends === 'open') return new Promise<void>(() => {});
          seen.open--;
          if (ends === 'lost')
            controller.error(new TypeError('terminated', { cause: Object.assign(new Error('gone'), { code: 'ECONNRESET' }) }));
          else controller.close();
        },
        cancel() {
          seen.open--;
        },
      },
      { highWaterMark: 0 },
    );
    init?.signal?.throwIfAborted();
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  return { adapter: gemini({ ...BASE, api, fetch }), requests: () => seen.requests, open: () => seen.open, sent: () => seen.sent };
}

/** The same for a capability whose answer is one JSON value. */
function underTest<A, Answer>(make: (options: GeminiOptions) => A, wire: (answer: Answer) => object) {
  return (scenario: RequestScenario<Answer>): AdapterUnderTest<A> => {
    let requests = 0;
    const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
      requests++;
      if (scenario.kind === 'failure') return failed(scenario);
      if (scenario.kind === 'answer') return new Response(JSON.stringify(wire(scenario.answer)));
      return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    };
    return { adapter: make({ ...BASE, fetch }), requests: () => requests };
  };
}

const answered = (usage: Parameters<typeof usageOf>[0], ...parts: object[]) => ({
  ...{ candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata: usageOf(usage) },
});

function run(cases: { name: string; run(): Promise<void> }[], least: number): void {
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(least));
  for (const { name, run: holds } of cases) test(name, holds);
}

describe('gemini holds the contract of a chat adapter', () =>
  run(
    adapterConformance(scenario => chatUnderTest(scenario)),
    35,
  ));

describe('so it does by the Interactions API', () =>
  run(
    adapterConformance(scenario => chatUnderTest(scenario, 'interactions')),
    35,
  ));

describe('geminiEmbeddings holds its contract', () => {
  run(
    embeddingConformance(
      underTest(geminiEmbeddings, ({ embeddings, usage }) => {
        // The order is all that the wire has.
        const values = [...embeddings].sort((a, b) => a.index - b.index).map(({ vector }) => ({ values: vector }));
        return { embeddings: values, usageMetadata: usageOf(usage) };
      }),
    ),
    12,
  );
});

describe('geminiImages holds its contract', () => {
  run(
    imageConformance(
      underTest(geminiImages, ({ images, usage }) =>
        answered(usage, ...images.map(({ mediaType, data }) => ({ inlineData: { mimeType: mediaType, data } }))),
      ),
    ),
    20,
  );
});

describe('geminiTranscription holds its contract', () => {
  run(
    transcriptionConformance(scenario => {
      if (scenario.kind === 'stream') return undefined;
      return underTest(geminiTranscription, ({ text, usage }: { text: string; usage?: object }) => answered(usage, { text }))(
        scenario as RequestScenario<{ text: string }>,
      );
    }),
    12,
  );
});
