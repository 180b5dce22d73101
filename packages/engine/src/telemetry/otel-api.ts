// What is used of OpenTelemetry's API, which is not imported: any tracer of that shape will do.
import type { ErrorJson } from '../errors.js';
import type { Attributes } from './attributes.js';

/** The part of OpenTelemetry's `Span` that is used. Times are milliseconds since 1970. */
export interface OtelSpan {
  setAttributes(attributes: Attributes): unknown;
  addEvent(name: string, attributes?: Attributes, time?: number): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(time?: number): void;
}

/** The part of OpenTelemetry's `Context` that is used. */
export interface OtelContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OtelContext;
  deleteValue(key: symbol): OtelContext;
}

/** The part of OpenTelemetry's `Tracer` that is used: `trace.getTracer('my-app')` of `@opentelemetry/api` has it. */
export interface OtelTracer {
  startSpan(name: string, options: { kind: number; startTime: number; attributes: Attributes }, context?: OtelContext): OtelSpan;
}

export interface OtelOptions {
  readonly tracer: OtelTracer;
  /** Puts messages, arguments and results into the spans. Default false: what people say is nobody's business but theirs. */
  readonly captureContent?: boolean;
  /** Name of the agent, for the run's span. */
  readonly agentName?: string;
  /** The context that child spans begin from, such as `() => context.active()`; by default an empty one. */
  readonly context?: () => OtelContext;
}

/** Span kinds, and the status of a failure. */
export const INTERNAL = 0;
export const CLIENT = 2;
export const ERROR = 2;

/** Puts a failure, if it is one, on a span. */
export function fail(span: OtelSpan, error: ErrorJson | undefined): void {
  if (!error) return;
  span.setAttributes({ 'error.type': error.reason });
  span.setStatus({ code: ERROR, message: error.message });
}
