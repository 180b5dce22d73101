// A tracer that writes down its spans.
import type { OtelContext, OtelTracer } from '@antiphon/engine';

interface Seen {
  name: string;
  kind: number;
  start: number;
  end?: number;
  ends: number;
  parent?: Seen;
  attributes: Record<string, unknown>;
  events: { name: string; attributes?: object }[];
  status?: { code: number; message?: string };
}

const SPAN_KEY = Symbol.for('OpenTelemetry Context Key SPAN');

/** A tracer of the API's shape that writes down everything. */
export function recorder() {
  const spans: Seen[] = [];
  const tracer: OtelTracer = {
    startSpan(name, { kind, startTime, attributes }, context?: OtelContext) {
      const parent = (context?.getValue(SPAN_KEY) as { seen: Seen } | undefined)?.seen;
      const seen: Seen = {
        name,
        kind,
        start: startTime,
        ends: 0,
        attributes: { ...attributes },
        events: [],
        ...(parent ? { parent } : {}),
      };
      spans.push(seen);
      return {
        seen,
        setAttributes: more => Object.assign(seen.attributes, more),
        addEvent: (event, about) => seen.events.push({ name: event, ...(about ? { attributes: about } : {}) }),
        setStatus: status => Object.assign(seen, { status }),
        end: time => {
          seen.ends++;
          if (time !== undefined) seen.end = time;
        },
      };
    },
  };
  return { spans, tracer };
}
