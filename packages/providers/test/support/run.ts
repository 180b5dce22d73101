import {
  type AdapterContext,
  type AdapterEvent,
  AntiphonError,
  type ChatAdapter,
  type ChatRequest,
  type FinishReason,
  type SourcePart,
  systemClock,
  type ToolCall,
  type Usage,
  user,
  type Warning,
} from '@antiphon/engine';

export interface Run {
  events: AdapterEvent[];
  text: string;
  reasoning: string;
  calls: ToolCall[];
  sources: SourcePart[];
  warnings: Warning[];
  finish: FinishReason | undefined;
  raw: string | undefined;
  usage: Usage | undefined;
  model: string | undefined;
  responseId: string | undefined;
  error: AntiphonError | undefined;
}

export const HELLO: ChatRequest = { messages: [user('Say hello.')] };

export function contextOf(signal: AbortSignal = new AbortController().signal, wallTime?: number): AdapterContext {
  const clock = wallTime === undefined ? systemClock : { ...systemClock, wallTime: () => wallTime };
  return { signal, requestId: 'test', clock };
}

/** Reads one answer to its end and puts it together in the plainest way. A failure stands in `error`; anything else is thrown. */
export async function run(adapter: ChatAdapter, request: ChatRequest = HELLO, context = contextOf()): Promise<Run> {
  const out: Run = {
    events: [],
    text: '',
    reasoning: '',
    calls: [],
    sources: [],
    warnings: [],
    finish: undefined,
    raw: undefined,
    usage: undefined,
    model: undefined,
    responseId: undefined,
    error: undefined,
  };
  try {
    for await (const event of adapter.stream(request, context)) addEvent(out, event);
  } catch (thrown) {
    if (!AntiphonError.isInstance(thrown)) throw thrown;
    out.error = thrown;
  }
  return out;
}

function addEvent(out: Run, event: AdapterEvent): void {
  out.events.push(event);
  switch (event.type) {
    case 'text_delta':
      out.text += event.delta;
      break;
    case 'reasoning_delta':
      out.reasoning += event.delta;
      break;
    case 'tool_call':
      out.calls.push(event.call);
      break;
    case 'source':
      out.sources.push(event.source);
      break;
    case 'warning':
      out.warnings.push(event.warning);
      break;
    case 'message_end':
      out.finish = event.finishReason;
      out.raw = event.rawFinishReason;
      out.usage = event.usage;
      out.model = event.model;
      out.responseId = event.responseId;
      break;
    default:
      break;
  }
}

/** As the engine does it: the request is repeated while the error says so and nothing was shown. Waits are left out. */
export async function runWithRetries(adapter: ChatAdapter, maxRetries = 2): Promise<Run> {
  for (let attempt = 0; ; attempt++) {
    const result = await run(adapter);
    const shown = result.events.some(event => event.type !== 'warning');
    if (!result.error?.retryable || shown || attempt >= maxRetries) return result;
  }
}

export function callsOf(result: Run): [string, unknown][] {
  return result.calls.map(call => [call.name, call.arguments]);
}
