import {
  AdapterError,
  createEngine,
  fail,
  type OtelContext,
  type OtelTracer,
  otelTelemetry,
  type RunInfo,
  type StreamEvent,
  type Telemetry,
  tool,
} from '@antiphon/engine';
import { type ScriptedTurn, scripted, virtualClock } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recorder } from './spans.js';
import { call, calls, deaf, plainTool, settled } from './support.js';

const TOOLS = [
  plainTool('works', () => ({ fine: true })),
  tool({
    name: 'remembers',
    description: 'Remembers.',
    input: { type: 'object', properties: { secret: { type: 'string' } } },
    run: () => ({ fine: true }),
  }),
  plainTool('fails', () => fail('It did not work.')),
  plainTool('hangs', deaf, { timeoutMs: 50 }),
];
const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, cacheWriteTokens: 2, reasoningTokens: 1 };

function setUp(turns: readonly ScriptedTurn[], options = {}, config = {}) {
  const clock = virtualClock(1_000);
  const { spans, tracer } = recorder();
  const telemetry = otelTelemetry({ tracer, ...options });
  const engine = createEngine({ chat: scripted(turns), clock, tools: TOOLS, telemetry, retry: { baseMs: 10 }, ...config });
  return { clock, spans, engine };
}

describe('spans', () => {
  test('a run, its model calls and its tools', async () => {
    const { clock, spans, engine } = setUp(
      [
        { ...calls('works'), usage, firstTokenMs: 200 },
        { text: 'Fine.', usage, firstTokenMs: 100 },
      ],
      {},
      {
        prices: { scripted: { input: 1_000_000, output: 1_000_000 } },
      },
    );
    await settled(clock, engine.chat('Hi', { requestId: 'r', sessionId: 's', temperature: 0.5, maxTokens: 9, stop: ['.'], seed: 1 }));
    const [run, first, tool, second] = spans;
    expect(spans.map(span => [span.name, span.kind, span.parent === run, span.ends])).toEqual([
      ['invoke_agent', 0, false, 1],
      ['chat scripted', 2, true, 1],
      ['execute_tool works', 0, true, 1],
      ['chat scripted', 2, true, 1],
    ]);
    expect(first?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
      'gen_ai.request.stream': true,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 9,
      'gen_ai.request.stop_sequences': ['.'],
      'gen_ai.request.seed': 1,
      'gen_ai.conversation.id': 's',
      'gen_ai.response.model': 'scripted',
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.response.time_to_first_chunk': 0.2,
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.cache_write.input_tokens': 2,
      'gen_ai.usage.reasoning.output_tokens': 1,
      'gen_ai.usage.cost': 15,
      'antiphon.retries': 0,
    });
    expect(tool?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'works',
      'gen_ai.tool.call.id': 'works',
      'gen_ai.tool.type': 'function',
    });
    expect(run?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.cost': 30,
      'gen_ai.response.finish_reasons': ['stop'],
      'antiphon.request_id': 'r',
      'antiphon.status': 'completed',
      'antiphon.steps': 2,
    });
    expect([run, first, second].map(span => [span?.start, span?.end])).toEqual([
      [1000, 1300],
      [1000, 1200],
      [1200, 1300],
    ]);
  });

  test('a plain model call is one span', async () => {
    const { clock, spans, engine } = setUp(['Hi']);
    await settled(clock, engine.generate('Hi'));
    expect(spans.map(({ name, ends, parent }) => [name, ends, parent])).toEqual([['chat scripted', 1, undefined]]);
  });

  test('retries belong to the call they repeat', async () => {
    const busy = new AdapterError('rate_limited', 'Busy.', { retryable: true, retryAfterMs: 70 });
    const { clock, spans, engine } = setUp([busy, 'Hi']);
    await settled(clock, engine.chat('Hi'));
    expect(spans).toHaveLength(2);
    expect(spans[1]).toMatchObject({ events: [{ name: 'retry', attributes: { 'error.type': 'rate_limited', 'antiphon.delay_ms': 70 } }] });
    expect(spans[1]?.attributes).toMatchObject({ 'antiphon.retries': 1, 'gen_ai.response.time_to_first_chunk': 0.07 });
    expect(spans[0]?.attributes).toMatchObject({ 'antiphon.retries': 1 });
  });

  test('a failure is on the call and the run', async () => {
    const { clock, spans, engine } = setUp([{ text: 'Half', error: new AdapterError('network_error', 'Gone.') }]);
    await settled(clock, engine.chat('Hi'));
    for (const span of spans)
      expect(span).toMatchObject({ ends: 1, status: { code: 2, message: 'Gone.' }, attributes: { 'error.type': 'network_error' } });
    expect(spans).toHaveLength(2);
  });

  test('a tool that fails or hangs says so', async () => {
    const { clock, spans, engine } = setUp([calls('fails', 'hangs'), 'Fine.']);
    await settled(clock, engine.chat('Hi'));
    const tools = spans.filter(({ name }) => name.startsWith('execute_tool'));
    expect(tools.map(({ status, ends, attributes }) => [status?.code, ends, attributes['error.type']])).toEqual([
      [2, 1, 'tool_error'],
      [2, 1, 'tool_error'],
    ]);
    expect(tools[1]!.end! - tools[1]!.start).toBe(50);
  });

  test('content is in them only when it is asked for', async () => {
    const turns = () => [{ toolCalls: [call('remembers', { secret: 'argument' })] }, 'A private answer.'];
    const everything = async (captureContent: boolean) => {
      const { clock, spans, engine } = setUp(turns(), { captureContent });
      await settled(clock, engine.chat('A private question.'));
      return JSON.stringify(spans.map(({ parent: _, ...span }) => span));
    };
    const quiet = await everything(false);
    for (const word of ['private', 'secret', 'fine']) expect(quiet).not.toContain(word);
    const loud = await everything(true);
    for (const word of ['A private question.', 'A private answer.', 'secret', 'fine']) expect(loud).toContain(word);
  });

  test('children begin from the given context', async () => {
    const baggage = Symbol('baggage');
    const make = (values: Map<symbol, unknown>): OtelContext => ({
      getValue: key => values.get(key),
      setValue: (key, value) => make(new Map(values).set(key, value)),
      deleteValue: () => make(new Map()),
    });
    const seen: unknown[] = [];
    const { tracer } = recorder();
    const spy: OtelTracer = {
      startSpan: (name, options, context) => {
        seen.push(context?.getValue(baggage));
        return tracer.startSpan(name, options, context);
      },
    };
    const telemetry = otelTelemetry({ tracer: spy, agentName: 'Ada', context: () => make(new Map([[baggage, 'kept']])) });
    await createEngine({ chat: scripted(['Hi']), telemetry }).chat('Hi');
    expect(seen).toEqual([undefined, 'kept']);
  });

  test('a tracer is needed', () => {
    expect(() => otelTelemetry({} as never)).toThrow(TypeError);
    expect(() => createEngine({ telemetry: {} as never })).toThrow(expect.objectContaining({ reason: 'invalid_option' }));
  });
});

describe('watching a run', () => {
  test('nothing happens before somebody reads, and the end comes once', async () => {
    const log: unknown[] = [];
    const telemetry: Telemetry = {
      run: ({ method, requestId }: RunInfo) => {
        log.push(method, requestId);
        return { request: () => void log.push('request'), event: ({ type }) => void log.push(type), end: () => void log.push('over') };
      },
    };
    const stream = createEngine({ chat: scripted(['Hi']), telemetry }).stream('Hi', { requestId: 'r' });
    expect(log).toEqual([]);
    await stream.outcome;
    expect(log).toEqual(['chat', 'r', 'request', 'message_start', 'text_delta', 'text_end', 'message_end', 'step_end', 'end', 'over']);
  });

  test('a watcher that breaks changes nothing', async () => {
    const breaks = () => {
      throw new Error('tracer');
    };
    for (const telemetry of [
      { run: breaks },
      { run: () => ({ request: breaks, event: breaks, end: breaks }) },
      { run: () => undefined },
    ] as Telemetry[])
      expect(await createEngine({ chat: scripted(['Hi']), telemetry }).chat('Hi')).toMatchObject({ status: 'completed', text: 'Hi' });
  });

  test('however a run ends, every span ends once, and children within their parent', async () => {
    const turn = fc.constantFrom<ScriptedTurn>(
      'Fine.',
      calls('works', 'fails'),
      { ...calls('hangs', 'works', 'nobody'), firstTokenMs: 30 },
      { text: 'Half', error: new AdapterError('network_error', 'Gone.', { retryable: true }) },
      new AdapterError('rate_limited', 'Busy.', { retryable: true }),
      new AdapterError('authentication_failed', 'No.'),
      { reasoning: 'Hm', chunks: ['a', 'b'], perChunkMs: 20 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('streamGenerate', 'streamStep', 'stream'),
        fc.constantFrom('whole', 'leave', 'abort', 'abort later'),
        fc.nat(20),
        fc.constantFrom('surface', 'restart'),
        async (turns, method, how, at, onStreamError) => {
          const { clock, spans, engine } = setUp(turns);
          const stop = new AbortController();
          if (how === 'abort later') clock.setTimer(at * 5, () => stop.abort());
          const stream = engine[method as 'stream']('Hi', { signal: stop.signal, onStreamError });
          const read = (async () => {
            const events: StreamEvent[] = [];
            for await (const event of stream) {
              if (events.push(event) !== at + 1) continue;
              if (how === 'leave') break;
              if (how === 'abort') stop.abort();
            }
          })();
          await settled(clock, read);
          await stream.outcome;
          for (const span of spans) {
            expect(span.ends).toBe(1);
            expect(span.end).toBeGreaterThanOrEqual(span.start);
            if (span.parent) expect([span.start >= span.parent.start, span.end! <= span.parent.end!]).toEqual([true, true]);
          }
          expect(spans.filter(({ name }) => name === 'invoke_agent')).toHaveLength(method === 'streamGenerate' ? 0 : 1);
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 400 },
    );
  });
});
