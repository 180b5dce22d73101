import { AdapterError, ConfigurationError, describe } from '@antiphon/engine';
import {
  type ChatWrapper,
  type Context,
  type GpuOption,
  type Llama,
  type LlamaCppModule,
  type Model,
  PROVIDER,
  type Sequence,
} from './binding.js';
import { checkGgufFile } from './node/gguf-file.js';

/** Options of `llamaCpp`. */
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

/** A model in memory, ready to answer. */
export interface Loaded {
  readonly module: LlamaCppModule;
  readonly llama: Llama;
  readonly model: Model;
  readonly context: Context;
  /** How the model writes a chat; finding it out takes seconds. */
  readonly wrapper: ChatWrapper;
}

/** One place in the context to generate in; `release` gives it back. */
export interface Lease {
  readonly sequence: Sequence;
  /** Somebody waits for a place. */
  isWanted(): boolean;
  /** Called when somebody begins to wait. */
  onWanted: () => void;
  release(): void;
}

const INSTALL = 'npm install node-llama-cpp@3.21.1';

/**
 * The model's life: loaded at the first request, shared by all, freed by `close`. It lends its sequences one request at a time, in the order
 * in which they asked.
 */
export class Runtime {
  readonly #options: LlamaCppOptions;
  readonly #closing = new AbortController();
  #loading: Promise<Loaded> | undefined;
  #idle: Sequence[] = [];
  readonly #waiting: ((sequence: Sequence) => void)[] = [];
  /** The leases that are out, and when each comes back. */
  readonly #running = new Map<Lease, Promise<void>>();
  #closed: Promise<void> | undefined;
  /** What the native library last complained about. */
  #complaint = '';

  constructor(options: LlamaCppOptions) {
    this.#options = options;
  }

  /** Aborts when the adapter is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The loaded model. A failure is not kept: the next request tries again. */
  load(): Promise<Loaded> {
    if (this.closing.aborted) throw closedError();
    this.#loading ??= this.#load().catch(thrown => {
      this.#loading = undefined;
      throw thrown;
    });
    return this.#loading;
  }

  /** A free sequence, at once or when one is given back. `signal` ends the waiting. */
  lease(signal: AbortSignal): Promise<Lease> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const idle = this.#idle.pop();
      if (idle) return resolve(this.#lend(idle));
      const take = (sequence: Sequence) => {
        signal.removeEventListener('abort', leave);
        resolve(this.#lend(sequence));
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        reject(signal.reason);
      };
      this.#waiting.push(take);
      for (const lease of this.#running.keys()) lease.onWanted();
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Stops every answer, waits until the native code is still, and frees the model. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #lend(sequence: Sequence): Lease {
    let over = () => {};
    const running = new Promise<void>(resolve => {
      over = resolve;
    });
    const lease: Lease = {
      sequence,
      isWanted: () => this.#waiting.length > 0,
      onWanted: () => {},
      release: () => {
        if (!this.#running.delete(lease)) return;
        over();
        const next = this.#waiting.shift();
        if (next) next(sequence);
        else this.#idle.push(sequence);
      },
    };
    this.#running.set(lease, running);
    return lease;
  }

  async #load(): Promise<Loaded> {
    const { modelPath, contextSize, threads, gpu = 'auto', parallel = 1 } = this.#options;
    await checkGgufFile(modelPath);
    const module = await loadModule(this.#options.load);
    const logger = (_level: string, message: string) => {
      this.#complaint = message.trim() || this.#complaint;
    };
    const freed: (() => Promise<void>)[] = [];
    try {
      const llama = await module.getLlama({ gpu, build: 'never', progressLogs: false, skipDownload: true, logLevel: 'error', logger });
      freed.push(() => llama.dispose());
      const model = await llama.loadModel({ modelPath, loadSignal: this.closing });
      freed.push(() => model.dispose());
      const context = await model.createContext({
        sequences: parallel,
        ...(contextSize === undefined ? {} : { contextSize }),
        ...(threads === undefined ? {} : { threads }),
      });
      freed.push(() => context.dispose());
      this.closing.throwIfAborted();
      const sequences = Array.from({ length: parallel }, () => context.getSequence());
      const chat = new module.LlamaChat({ contextSequence: sequences[0]! });
      const wrapper = chat.chatWrapper;
      chat.dispose({ disposeSequence: false });
      this.#idle = sequences;
      return { module, llama, model, context, wrapper };
    } catch (thrown) {
      for (const free of freed.reverse()) await free().catch(() => {});
      if (this.closing.aborted) throw closedError();
      throw loadError(thrown, modelPath, this.#complaint);
    }
  }

  async #close(): Promise<void> {
    this.#closing.abort(closedError());
    const loaded = await this.#loading?.catch(() => undefined);
    await Promise.all(this.#running.values());
    await loaded?.context.dispose();
    await loaded?.model.dispose();
    await loaded?.llama.dispose();
  }
}

function closedError(): ConfigurationError {
  return new ConfigurationError('invalid_option', 'This llamaCpp adapter is closed; make another one.', { provider: PROVIDER });
}

async function loadModule(load: LlamaCppOptions['load']): Promise<LlamaCppModule> {
  // Not a literal, so that neither the compiler nor a bundler asks for the optional peer.
  const name = 'node-llama-cpp';
  let module: unknown;
  try {
    module = await (load ? load() : import(name));
  } catch (cause) {
    throw new ConfigurationError(
      'invalid_option',
      `llamaCpp needs the package node-llama-cpp, which cannot be loaded: run \`${INSTALL}\`. (${describe(cause)})`,
      {
        provider: PROVIDER,
        cause,
      },
    );
  }
  if (typeof (module as Partial<LlamaCppModule> | null)?.getLlama !== 'function') {
    throw new ConfigurationError('invalid_option', 'What load() gave is not node-llama-cpp: it has no getLlama.', { provider: PROVIDER });
  }
  return module as LlamaCppModule;
}

function loadError(cause: unknown, modelPath: string, complaint: string): AdapterError {
  const detail = complaint === '' ? describe(cause) : `${describe(cause)}; ${complaint}`;
  if (describe(cause).includes('NoBinaryFoundError')) {
    return new AdapterError(
      'unsupported',
      `node-llama-cpp has no ready-made build for this machine: install its @node-llama-cpp package. (${detail})`,
      {
        provider: PROVIDER,
        cause,
      },
    );
  }
  return new AdapterError(
    'invalid_request',
    `The model ${modelPath} could not be loaded: ${detail}. Is the file whole, and is there memory for it?`,
    {
      provider: PROVIDER,
      cause,
    },
  );
}
