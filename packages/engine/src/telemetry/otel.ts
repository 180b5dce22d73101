import type { ChatRequest } from '../adapters/chat.js';
import { defined } from '../data/defined.js';
import type { AssistantPart, ToolCall } from '../data/parts.js';
import type { MessageEnd, RetryEvent, StreamEvent } from '../events/events.js';
import type { Outcome } from '../events/outcome.js';
import { type Attributes, messagesJson, providerName, requestAttributes, usageAttributes } from './attributes.js';
import { capabilitySpan } from './capability-span.js';
import { CLIENT, ERROR, fail, INTERNAL, type OtelContext, type OtelOptions, type OtelSpan } from './otel-api.js';
import type { RunInfo, RunObserver, Telemetry } from './telemetry.js';

export type { OtelContext, OtelOptions, OtelSpan, OtelTracer } from './otel-api.js';

/** Where OpenTelemetry's API keeps the span of a context. */
const SPAN_KEY = Symbol.for('OpenTelemetry Context Key SPAN');

/**
 * Spans under OpenTelemetry's conventions for generative AI, through any tracer of that API. A run is `invoke_agent` (a plain `generate` has
 * no such span), each model call with all its retries `chat MODEL`, each tool call `execute_tool NAME`, both children of the run. A call of
 * another capability, with all its batches and retries, is one span: `embeddings MODEL`, `generate_content MODEL`. Every span ends exactly
 * once, when its part of the stream ends. Keys are never in them; content is when `captureContent` says so.
 *
 * ```ts
 * import { trace } from '@opentelemetry/api';
 * createEngine({ chat, telemetry: otelTelemetry({ tracer: trace.getTracer('my-app') }) });
 * ```
 */
export function otelTelemetry(options: OtelOptions): Telemetry {
  if (typeof options?.tracer?.startSpan !== 'function')
    throw new TypeError('otelTelemetry needs a tracer: otelTelemetry({ tracer: trace.getTracer("my-app") }).');
  return { run: info => new RunSpans(options, info), capability: info => capabilitySpan(options, info) };
}

interface OpenCall {
  readonly span: OtelSpan;
  /** On the clock that never goes back. */
  readonly began: number;
  retries: number;
  parts: AssistantPart[];
  firstSeen: boolean;
}

class RunSpans implements RunObserver {
  readonly #options: OtelOptions;
  readonly #info: RunInfo;
  readonly #run: OtelSpan | undefined;
  #call: OpenCall | undefined;
  readonly #tools = new Map<string, OtelSpan>();
  #retries = 0;
  #outcome: Outcome | undefined;

  constructor(options: OtelOptions, info: RunInfo) {
    this.#options = options;
    this.#info = info;
    const { agentName } = options;
    if (info.method === 'generate') return;
    this.#run = options.tracer.startSpan(agentName === undefined ? 'invoke_agent' : `invoke_agent ${agentName}`, {
      kind: INTERNAL,
      startTime: this.#time,
      attributes: { ...this.#common('invoke_agent', info.provider, info.model), ...defined({ 'gen_ai.agent.name': agentName }) },
    });
  }

  request(request: ChatRequest, { provider, model }: { readonly provider: string; readonly model: string }): void {
    this.#openCall(provider, model, {
      ...requestAttributes(request),
      ...(this.#options.captureContent ? { 'gen_ai.input.messages': messagesJson(request.messages) } : {}),
    });
  }

  event(event: StreamEvent): void {
    switch (event.type) {
      case 'message_start': {
        const { span } = this.#openCall(event.provider ?? this.#info.provider, event.model ?? this.#info.model);
        span.setAttributes(
          defined({
            'gen_ai.provider.name': event.provider === undefined ? undefined : providerName(event.provider),
            'gen_ai.response.model': event.model,
            'gen_ai.response.id': event.responseId,
          }),
        );
        return;
      }
      case 'text_delta':
      case 'reasoning_delta':
      case 'tool_call_start':
      case 'source':
      case 'file':
        this.#firstContent();
        return;
      case 'text_end':
        this.#keep({ type: 'text', text: event.text });
        return;
      case 'tool_call':
        this.#keep({ type: 'tool_call', ...event.call });
        return;
      case 'retry':
        this.#retry(event);
        return;
      case 'message_end':
        this.#endCall(event);
        return;
      case 'tool_start':
        this.#tools.set(event.call.id, this.#startTool(event.call));
        return;
      case 'tool_result': {
        const content = typeof event.content === 'string' ? event.content : JSON.stringify(event.content);
        this.#endTool(event.callId, event.isError ? 'tool_error' : undefined, content);
        return;
      }
      case 'question':
        this.#endTool(event.callId);
        return;
      case 'end':
        this.#outcome = event.outcome;
        return;
    }
  }

  end(): void {
    const outcome = this.#outcome;
    const error = outcome?.status === 'failed' ? outcome.error.toJSON() : undefined;
    const stopped = outcome?.status === 'completed' ? undefined : 'cancelled';
    for (const callId of [...this.#tools.keys()]) this.#endTool(callId, stopped);
    if (this.#call) {
      fail(this.#call.span, error);
      this.#endCall();
    }
    const span = this.#run;
    if (!span) return;
    fail(span, error);
    if (outcome) {
      span.setAttributes({
        ...usageAttributes(outcome.usage, outcome.cost),
        'gen_ai.response.finish_reasons': [outcome.finishReason],
        'antiphon.status': outcome.status,
        'antiphon.steps': outcome.steps.length,
        'antiphon.retries': this.#retries,
        ...(outcome.status === 'interrupted'
          ? { 'antiphon.interrupt_reason': typeof outcome.reason === 'string' ? outcome.reason : `halt: ${outcome.reason.halt}` }
          : {}),
      });
    }
    span.end(this.#time);
  }

  get #time(): number {
    return this.#info.clock.wallTime();
  }

  #common(operation: string, provider: string, model: string): Attributes {
    return {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': providerName(provider),
      'gen_ai.request.model': model,
      'antiphon.request_id': this.#info.requestId,
      ...defined({ 'gen_ai.conversation.id': this.#info.sessionId }),
    };
  }

  /** The span of the call that is going on; its first request opens it. */
  #openCall(provider: string, model: string, more: Attributes = {}): OpenCall {
    if (this.#call) return this.#call;
    const options = { kind: CLIENT, startTime: this.#time, attributes: { ...this.#common('chat', provider, model), ...more } };
    const span = this.#options.tracer.startSpan(`chat ${model}`, options, this.#context());
    this.#call = { span, began: this.#info.clock.now(), retries: 0, parts: [], firstSeen: false };
    return this.#call;
  }

  #firstContent(): void {
    const call = this.#call;
    if (!call || call.firstSeen) return;
    call.firstSeen = true;
    call.span.setAttributes({ 'gen_ai.response.time_to_first_chunk': (this.#info.clock.now() - call.began) / 1000 });
  }

  #keep(part: AssistantPart): void {
    if (this.#options.captureContent) this.#call?.parts.push(part);
  }

  #retry({ error, attempt, delayMs, continued }: RetryEvent): void {
    this.#retries++;
    const call = this.#call;
    if (!call) return;
    if (!continued) call.parts = [];
    call.retries++;
    call.span.addEvent('retry', { 'error.type': error.reason, 'antiphon.attempt': attempt, 'antiphon.delay_ms': delayMs }, this.#time);
  }

  #endCall(end?: MessageEnd): void {
    const call = this.#call;
    if (!call) return;
    this.#call = undefined;
    call.span.setAttributes({
      'antiphon.retries': call.retries,
      ...(end ? { 'gen_ai.response.finish_reasons': [end.finishReason], ...usageAttributes(end.usage, end.cost) } : {}),
      ...defined({ 'gen_ai.response.model': end?.model, 'gen_ai.response.id': end?.responseId }),
      ...(call.parts.length > 0 ? { 'gen_ai.output.messages': messagesJson([{ role: 'assistant', content: call.parts }]) } : {}),
    });
    call.span.end(this.#time);
  }

  #startTool(call: ToolCall): OtelSpan {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': call.name,
      'gen_ai.tool.call.id': call.id,
      'gen_ai.tool.type': 'function',
      ...(this.#options.captureContent ? { 'gen_ai.tool.call.arguments': JSON.stringify(call.arguments) } : {}),
    };
    return this.#options.tracer.startSpan(
      `execute_tool ${call.name}`,
      { kind: INTERNAL, startTime: this.#time, attributes },
      this.#context(),
    );
  }

  #endTool(callId: string, errorType?: string, content?: string): void {
    const span = this.#tools.get(callId);
    if (!span) return;
    this.#tools.delete(callId);
    if (content !== undefined && this.#options.captureContent) span.setAttributes({ 'gen_ai.tool.call.result': content });
    if (errorType !== undefined) {
      span.setAttributes({ 'error.type': errorType });
      span.setStatus({ code: ERROR });
    }
    span.end(this.#time);
  }

  #context(): OtelContext | undefined {
    if (!this.#run) return this.#options.context?.();
    const base = this.#options.context?.() ?? new PlainContext();
    return base.setValue(SPAN_KEY, this.#run);
  }
}

/** OpenTelemetry's contexts are immutable maps; this is the empty one and what is made of it. */
class PlainContext implements OtelContext {
  readonly #values: ReadonlyMap<symbol, unknown>;
  constructor(values: ReadonlyMap<symbol, unknown> = new Map()) {
    this.#values = values;
  }
  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }
  setValue(key: symbol, value: unknown): OtelContext {
    return new PlainContext(new Map(this.#values).set(key, value));
  }
  deleteValue(key: symbol): OtelContext {
    const values = new Map(this.#values);
    values.delete(key);
    return new PlainContext(values);
  }
}
