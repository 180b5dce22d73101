// The engine's conformance kit on openaiChat, over an in-memory server that speaks the dialect.
import { adapterConformance, type ChatScenario, type ChatUnderTest } from '@antiphon/engine/testing';
import { openaiChat } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { chunk, event, fn, tools } from './support/wire.js';

/** The events of a scenario, as the server writes them. */
function* wireOf({ text = [], reasoning = [], toolCalls = [], finish, usage, ends }: ChatScenario): Generator<object> {
  yield chunk({ role: 'assistant' });
  for (const content of reasoning) yield chunk({ reasoning_content: content });
  for (const content of text) yield chunk({ content });
  for (const [index, { id, name, rawArguments }] of toolCalls.entries()) {
    const half = Math.ceil(rawArguments.length / 2);
    yield tools(fn(index, id, name, rawArguments.slice(0, half)));
    yield tools(fn(index, undefined, undefined, rawArguments.slice(half)));
  }
  while (ends === 'endless') yield chunk({ content: text.at(-1) });
  if (ends !== 'complete') return;
  yield chunk({}, finish);
  if (usage) {
    const { inputTokens = 0, outputTokens = 0 } = usage;
    const told = { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
    yield { id: 'r1', object: 'chat.completion.chunk', choices: [], usage: told };
  }
}

function underTest(scenario: ChatScenario): ChatUnderTest {
  const seen = { requests: 0, open: 0, sent: 0 };
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    seen.requests++;
    const { failure, ends } = scenario;
    if (failure) {
      const headers = failure.retryAfterMs === undefined ? {} : { 'retry-after': String(failure.retryAfterMs / 1000) };
      return new Response(JSON.stringify({ error: { message: failure.message } }), { status: failure.status, headers });
    }
    seen.open++;
    const encoder = new TextEncoder();
    const wire = wireOf(scenario);
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = wire.next();
          if (!done) {
            seen.sent++;
            controller.enqueue(encoder.encode(event(value)));
            return;
          }
          if (ends === 'open') return;
          seen.open--;
          if (ends === 'lost')
            controller.error(new TypeError('terminated', { cause: Object.assign(new Error('gone'), { code: 'ECONNRESET' }) }));
          else {
            if (ends === 'complete') controller.enqueue(encoder.encode(event('[DONE]')));
            controller.close();
          }
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
  const adapter = openaiChat({ model: 'm', baseURL: 'http://model.test/v1', fetch });
  return { adapter, requests: () => seen.requests, open: () => seen.open, sent: () => seen.sent };
}

describe('openaiChat holds the contract of a chat adapter', () => {
  const cases = adapterConformance(underTest);
  test('no case was lost', () => expect(cases.length).toBeGreaterThanOrEqual(35));
  for (const { name, run } of cases) test(name, run);
});
