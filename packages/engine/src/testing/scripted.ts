import { BlockWriter } from '../adapters/block-writer.js';
import type { AdapterContext, ChatAdapter, ChatRequest } from '../adapters/chat.js';
import { sleep } from '../clock.js';
import type { JsonObject } from '../data/json.js';
import type { SourcePart } from '../data/parts.js';
import type { Usage } from '../data/usage.js';
import { AdapterError } from '../errors.js';
import type { AdapterEvent } from '../events/events.js';
import type { FinishReason } from '../events/finish.js';
import { Script, type Scripted } from './scripted-turns.js';

/** What a scripted model answers once. Everything is optional; an empty turn is an empty answer that stops. */
export interface ScriptedReply {
  readonly text?: string;
  /** The text in the pieces in which it comes; default one piece per word. */
  readonly chunks?: readonly string[];
  readonly reasoning?: string;
  readonly toolCalls?: readonly {
    readonly id?: string;
    readonly name: string;
    readonly arguments?: JsonObject;
    /** The arguments' JSON text as the model writes it, for broken ones. */
    readonly rawArguments?: string;
  }[];
  readonly sources?: readonly Omit<SourcePart, 'type'>[];
  readonly finishReason?: FinishReason;
  readonly usage?: Usage;
  /** Thrown after everything above was said. */
  readonly error?: Error;
  /** Milliseconds on the engine's clock before the first event, and before every further piece of text. */
  readonly firstTokenMs?: number;
  readonly perChunkMs?: number;
}

/** A reply, its text alone, an error (thrown before the first event), raw adapter events, or a function of the request. */
export type ScriptedTurn =
  | string
  | ScriptedReply
  | Error
  | readonly AdapterEvent[]
  | ((request: ChatRequest) => Exclude<ScriptedTurn, (request: ChatRequest) => unknown>);

/** A scripted model, and what was asked of it. */
export interface ScriptedChat extends ChatAdapter, Scripted<ChatRequest> {}

/**
 * A chat model for tests that says what it is told, in order. Each one has its own cursor. One call more than there are turns fails with
 * `script_exhausted`.
 *
 * ```ts
 * const engine = createEngine({ chat: scripted(['Hello!', { toolCalls: [{ name: 'clock' }] }, 'It is noon.']) });
 * ```
 */
export function scripted(
  turns: readonly ScriptedTurn[],
  options: { readonly model?: string; readonly structuredOutput?: boolean } = {},
): ScriptedChat {
  const script = new Script<ChatRequest, string | ScriptedReply | readonly AdapterEvent[]>(turns);
  return {
    provider: 'scripted',
    model: options.model ?? 'scripted',
    ...(options.structuredOutput === undefined ? {} : { structuredOutput: options.structuredOutput }),
    requests: script.requests,
    get remaining() {
      return script.remaining;
    },
    async *stream(request: ChatRequest, context: AdapterContext): AsyncGenerator<AdapterEvent> {
      context.signal.throwIfAborted();
      checkRequest(request);
      const said = await script.answer(request, context);
      yield* Array.isArray(said) ? (said as AdapterEvent[]) : play(said as string | ScriptedReply, request, context, options.model);
    },
  };
}

async function* play(
  said: string | ScriptedReply,
  request: ChatRequest,
  { clock, signal }: AdapterContext,
  model = 'scripted',
): AsyncGenerator<AdapterEvent> {
  const reply: ScriptedReply = typeof said === 'string' ? { text: said } : said;
  const pause = async (ms: number | undefined) => {
    if (ms) await sleep(clock, ms, signal);
    signal.throwIfAborted();
  };
  const blocks = new BlockWriter();
  blocks.start({ model: request.model ?? model });
  yield* blocks.take();
  await pause(reply.firstTokenMs);
  if (reply.reasoning !== undefined) blocks.reasoning(reply.reasoning);
  for (const [i, chunk] of (reply.chunks ?? (reply.text ?? '').match(/\s*\S+\s*$|\s*\S+|\s+$/g) ?? []).entries()) {
    if (i > 0) await pause(reply.perChunkMs);
    blocks.text(chunk);
    yield* blocks.take();
    signal.throwIfAborted();
  }
  for (const source of reply.sources ?? []) blocks.source({ type: 'source', ...source });
  for (const [i, call] of (reply.toolCalls ?? []).entries()) {
    const raw = call.rawArguments ?? JSON.stringify(call.arguments ?? {});
    blocks.toolCall(i, { ...(call.id === undefined ? {} : { id: call.id }), name: call.name });
    for (let at = 0; at < raw.length; at += 16) blocks.toolCall(i, { args: raw.slice(at, at + 16) });
  }
  if (reply.error) {
    yield* blocks.take();
    throw reply.error;
  }
  blocks.end({ finishReason: reply.finishReason ?? (blocks.hasCalls ? 'tool_calls' : 'stop'), usage: reply.usage ?? {} });
  yield* blocks.take();
}

/** Refuses what real providers refuse, so that a test does not pass on a transcript that would fail live. */
function checkRequest(request: ChatRequest): void {
  const refuse = (message: string) => new AdapterError('invalid_request', `scripted: ${message}`, { status: 400 });
  if (request.messages.length === 0) throw refuse('there are no messages.');
  let open = new Set<string>();
  for (const [i, message] of request.messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.callId)) throw refuse(`messages[${i}] answers ${message.callId}, which is no open call.`);
      continue;
    }
    if (open.size > 0) throw refuse(`messages[${i}] follows calls without results: ${[...open].join(', ')}.`);
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      const ids = message.content.flatMap(part => (part.type === 'tool_call' ? [part.id] : []));
      open = new Set(ids);
      if (open.size < ids.length) throw refuse(`messages[${i}] has two calls with one id.`);
    }
    if (message.role === 'assistant' && message.content.length === 0) {
      throw refuse(`messages[${i}] is an assistant message without content.`);
    }
  }
  if (open.size > 0) throw refuse(`the last calls have no results: ${[...open].join(', ')}.`);
}
