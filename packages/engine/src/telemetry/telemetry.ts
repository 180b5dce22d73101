import type { AdapterContext, ChatAdapter, ChatRequest } from '../adapters/chat.js';
import type { CapabilityMethod, CapabilityOutcome } from '../capabilities/call.js';
import type { SpeechAdapterEvent } from '../capabilities/speech.js';
import type { TranscriptionAdapterEvent } from '../capabilities/transcription.js';
import type { Clock } from '../clock.js';
import type { AdapterEvent, RetryEvent, StreamEvent } from '../events/events.js';
import { quietly } from '../quietly.js';
import { around } from '../reliability/around.js';

/** A run that begins. Holds neither keys nor content. */
export interface RunInfo {
  /** The engine's method: one model call, one call and its tools, or the loop. */
  readonly method: 'generate' | 'step' | 'chat';
  readonly requestId: string;
  readonly sessionId?: string;
  readonly provider: string;
  readonly model: string;
  readonly clock: Clock;
}

/**
 * Watches one run. Nothing that it does or throws changes the run. `request` and `event` are called as things happen, `end` exactly once,
 * behind the last event: when the stream has ended, was aborted, was left early or broke.
 */
export interface RunObserver {
  /** A request leaves for the model, as middleware left it. Called again for each retry of the same call. */
  request?(request: ChatRequest, about: { readonly provider: string; readonly model: string }): void;
  /** What the reader is about to see. */
  event?(event: StreamEvent): void;
  end?(): void;
}

/** A call of a capability that begins. Holds no keys. */
export interface CapabilityInfo {
  /** The engine's method. */
  readonly method: CapabilityMethod;
  readonly requestId: string;
  readonly provider: string;
  readonly model: string;
  /** What is asked, as plain data: the input and its settings. Text and sound that come in pieces are not in it. */
  readonly request: object;
  readonly clock: Clock;
}

/** What is seen of a call: retries, and of a streamed one everything that its reader is about to see. */
export type CapabilityEvent = RetryEvent | SpeechAdapterEvent | TranscriptionAdapterEvent;

/** Watches one call of a capability, with all its batches and retries, under the rules of a `RunObserver`. */
export interface CapabilityObserver {
  event?(event: CapabilityEvent): void;
  /** Called exactly once, with the outcome that the caller gets. */
  end?(outcome: CapabilityOutcome<object, object>): void;
}

/**
 * Watches an engine's runs. `otelTelemetry` is one; another can be a few lines:
 *
 * ```ts
 * const telemetry: Telemetry = {
 *   run: ({ requestId }) => ({ event: event => event.type === 'end' && console.log(requestId, event.outcome.usage) }),
 * };
 * createEngine({ chat, telemetry });
 * ```
 */
export interface Telemetry {
  /** Called when somebody begins to read a run; without an observer the run is not watched. */
  run(info: RunInfo): RunObserver | undefined;
  /** The same for the capabilities beside chat: called when a call begins, and for a streamed one when somebody begins to read. */
  capability?(info: CapabilityInfo): CapabilityObserver | undefined;
}

/** Telemetry at work on one run. A watcher that breaks must not break what it watches. */
export class Observation {
  readonly #telemetry: Telemetry;
  readonly #info: RunInfo;
  #observer: RunObserver | undefined;

  constructor(telemetry: Telemetry, info: RunInfo) {
    this.#telemetry = telemetry;
    this.#info = info;
  }

  /** The run's events, seen on their way. */
  async *events(run: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent, void> {
    this.#observer = quietly(() => this.#telemetry.run(this.#info));
    try {
      for await (const event of run) {
        quietly(() => this.#observer?.event?.(event));
        // Nobody is obliged to pull once more after the last event.
        if (event.type === 'end') this.#end();
        yield event;
      }
    } finally {
      this.#end();
    }
  }

  #end(): void {
    const observer = this.#observer;
    this.#observer = undefined;
    quietly(() => observer?.end?.());
  }

  /** The adapter, its requests seen on their way. */
  adapter(inner: ChatAdapter): ChatAdapter {
    return around(inner, {
      stream: (request: ChatRequest, context: AdapterContext): AsyncIterable<AdapterEvent> => {
        const about = { provider: inner.provider, model: request.model ?? inner.model };
        quietly(() => this.#observer?.request?.(request, about));
        return inner.stream(request, context);
      },
    });
  }
}
