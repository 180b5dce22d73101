import {
  type AdapterContext,
  type AdapterEvent,
  BlockWriter,
  type ChatAdapter,
  type ChatRequest,
  ConfigurationError,
} from '@antiphon/engine';
import type { GpuOption } from './binding.js';
import { generateAnswer } from './generation.js';
import { buildLocalRequest } from './request.js';
import { type Lease, Runtime } from './runtime.js';

export interface LlamaCppOptions {
  /** A GGUF file on this machine. */
  readonly modelPath: string;
  /** Tokens of prompt and answer together; default: what the model was made for, as far as memory allows. */
  readonly contextSize?: number;
  /** Threads of the processor; default: as many as help. */
  readonly threads?: number;
  /** Default `auto`: the best that is there. `false` is the processor. */
  readonly gpu?: GpuOption;
  /** Answers that are written at the same time, each with a context of its own; others wait in order. Default 1. */
  readonly parallel?: number;
  /** Instead of `import('node-llama-cpp')`, for a package that stands elsewhere. */
  readonly load?: () => Promise<unknown>;
}

/** A chat model in this process. */
export interface LlamaCppAdapter extends ChatAdapter {
  /** Stops what is being written and frees the model and its memory; calls after it throw `ConfigurationError`. May be called twice. */
  close(): Promise<void>;
}

const PROVIDER = 'llama-cpp';

/**
 * A GGUF model in this very process, by the optional peer `node-llama-cpp` (`npm install node-llama-cpp`). The model is loaded at the first
 * request and shared by all. Tools are called in the model's own syntax with arguments held to their schema by a grammar; structured output
 * is held by a JSON grammar, in which every named property is written. `temperature` is 0 unless it is set. It takes text only: pictures
 * and files become notes, with a warning. Answers wait for each other (`parallel`), and go on to be written while the reader is slow, up to
 * `maxTokens` or the end of the context.
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
  const { modelPath, parallel = 1 } = options;
  if (typeof modelPath !== 'string' || modelPath === '') {
    throw new ConfigurationError('invalid_option', 'llamaCpp needs the path of a GGUF file, such as { modelPath: "models/model.gguf" }.');
  }
  for (const [name, value] of [
    ['contextSize', options.contextSize],
    ['threads', options.threads],
    ['parallel', parallel],
  ] as const) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw new ConfigurationError('invalid_option', `${name} must be a whole number above 0, not ${String(value)}.`);
    }
  }
  const runtime = new Runtime({ ...options, parallel });
  const model = nameOf(modelPath);
  return {
    provider: PROVIDER,
    model,
    structuredOutput: true,
    stream: (request, context) => streamAnswer(request, context, runtime, model),
    close: () => runtime.close(),
  };
}

async function* streamAnswer(
  request: ChatRequest,
  { signal, deadline }: AdapterContext,
  runtime: Runtime,
  model: string,
): AsyncGenerator<AdapterEvent, void, undefined> {
  signal.throwIfAborted();
  runtime.closing.throwIfAborted();
  const local = buildLocalRequest(request, PROVIDER);
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
    const blocks = new BlockWriter();
    for (const warning of local.warnings) blocks.warn(warning);
    blocks.start({ model });
    const work = new Work(lease, written => {
      if (!written) deadline?.restart();
    });
    work.run(progress => generateAnswer({ request: local, loaded, sequence: lease.sequence, blocks, signal: stop.signal, progress }));
    for (;;) {
      for (const event of blocks.take()) {
        yield event;
        stop.signal.throwIfAborted();
      }
      if (work.over) break;
      await orAborted(work.next(), stop.signal);
    }
    if (work.failure) throw work.failure.thrown;
    yield* blocks.take();
  } finally {
    signal.removeEventListener('abort', onAbort);
    runtime.closing.removeEventListener('abort', onClose);
    // Whoever leaves early stops the generation; its sequence comes back when the native code has let go.
    stop.abort();
  }
}

/** A generation under way. It gives its sequence back by itself, however it ends. */
class Work {
  over = false;
  failure: { readonly thrown: unknown } | undefined;
  readonly #lease: Lease;
  readonly #onProgress: (written: boolean) => void;
  #wake: () => void = () => {};
  #news = false;

  constructor(lease: Lease, onProgress: (written: boolean) => void) {
    this.#lease = lease;
    this.#onProgress = onProgress;
  }

  run(generate: (progress: (written: boolean) => void) => Promise<void>): void {
    const told = (written: boolean) => {
      this.#onProgress(written);
      if (written) this.#ring();
    };
    void generate(told)
      .catch(thrown => {
        this.failure = { thrown };
      })
      .finally(() => {
        this.over = true;
        this.#lease.release();
        this.#ring();
      });
  }

  /** Resolves when there is something new. */
  next(): Promise<void> {
    return new Promise<void>(resolve => {
      this.#wake = resolve;
      if (this.#news || this.over) this.#ring();
    }).then(() => {
      this.#news = false;
    });
  }

  #ring(): void {
    this.#news = true;
    this.#wake();
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** `models/qwen3-4b.gguf` → `qwen3-4b` */
function nameOf(path: string): string {
  const file = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return (file.toLowerCase().endsWith('.gguf') ? file.slice(0, -5) : file) || path;
}
