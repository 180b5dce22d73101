import {
  type AdapterContext,
  type AdapterEvent,
  type Burst,
  type ChatAdapter,
  type ChatRequest,
  ConfigurationError,
  inBursts,
} from '@antiphon/engine';
import { PROVIDER } from './binding.js';
import { generateAnswer } from './generation.js';
import { buildLocalRequest } from './request.js';
import { type LlamaCppOptions, Runtime } from './runtime.js';
import { orAborted, Work } from './work.js';

/** A chat model in this process. */
export interface LlamaCppAdapter extends ChatAdapter {
  /** Stops what is being written and frees the model and its memory; calls after it throw `ConfigurationError`. May be called twice. */
  close(): Promise<void>;
}

/**
 * A GGUF model in this very process, by the optional peer `node-llama-cpp` (`npm install node-llama-cpp`). The model is loaded at the first
 * request and shared by all. Tools are called in the model's own syntax with arguments held to their schema by a grammar; structured output
 * is held by a JSON grammar, in which every named property is written. `temperature` is 0 unless it is set. It takes text only: pictures
 * and files become notes, with a warning. Answers wait for each other (`parallel`). One is written up to 512 pieces ahead of its reader; then
 * the model waits for the reader, unless another answer waits for the model.
 *
 * Throws `ConfigurationError` (`invalid_option`) for wrong options, and in a call for a missing peer or a file that is no GGUF;
 * `AdapterError` for a missing file (`model_not_found`), a model that cannot be loaded (`invalid_request`) and a conversation that does not
 * fit (`context_length_exceeded`).
 *
 * ```ts
 * const chat = llamaCpp({ modelPath: 'models/qwen3-4b-q4_k_m.gguf' });
 * const outcome = await createEngine({ chat }).chat('Say hello.');
 * await chat.close();
 * ```
 */
export function llamaCpp(options: LlamaCppOptions): LlamaCppAdapter {
  const { modelPath } = options;
  if (typeof modelPath !== 'string' || modelPath === '') {
    throw new ConfigurationError('invalid_option', 'llamaCpp needs the path of a GGUF file, such as { modelPath: "models/model.gguf" }.');
  }
  for (const name of ['contextSize', 'threads', 'parallel'] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw new ConfigurationError('invalid_option', `${name} must be a whole number above 0, not ${String(value)}.`);
    }
  }
  const runtime = new Runtime(options);
  const model = nameOf(modelPath);
  return {
    provider: PROVIDER,
    model,
    structuredOutput: true,
    structuredOutputWithTools: false,
    stream: (request, context) => inBursts(streamAnswer(request, context, runtime, model), context.signal),
    close: () => runtime.close(),
  };
}

async function* streamAnswer(
  request: ChatRequest,
  { signal, deadline }: AdapterContext,
  runtime: Runtime,
  model: string,
): AsyncGenerator<Burst<AdapterEvent>, void> {
  signal.throwIfAborted();
  runtime.closing.throwIfAborted();
  const local = buildLocalRequest(request);
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal.reason);
  const onClose = () => stop.abort(runtime.closing.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  runtime.closing.addEventListener('abort', onClose, { once: true });
  try {
    // Loading and waiting for others is no silence of the model.
    deadline?.pause();
    const loaded = await orAborted(runtime.load(), stop.signal);
    const lease = await runtime.lease(stop.signal);
    deadline?.restart();
    const work = new Work(lease, stop.signal);
    work.run(
      desk => {
        for (const warning of local.warnings) desk.blocks.warn(warning);
        desk.blocks.start({ model });
        return generateAnswer({ ...desk, request: local, loaded, sequence: lease.sequence, signal: stop.signal });
      },
      () => deadline?.restart(),
    );
    for (;;) {
      const { over } = work;
      const events = work.take();
      if (events.length > 0) yield events;
      stop.signal.throwIfAborted();
      if (over) break;
      await work.news();
    }
    if (work.failure) throw work.failure.thrown;
  } finally {
    signal.removeEventListener('abort', onAbort);
    runtime.closing.removeEventListener('abort', onClose);
    // Whoever leaves early stops the generation; its sequence comes back when the native code has let go.
    stop.abort();
  }
}

/** `models/qwen3-4b.gguf` → `qwen3-4b` */
function nameOf(path: string): string {
  const file = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return (file.toLowerCase().endsWith('.gguf') ? file.slice(0, -5) : file) || path;
}
