import { isRecord, type JsonObject } from '@antiphon/engine';
import { parseJson } from '../../http/errors.js';
import { filled } from '../../http/wire-values.js';

/**
 * A step of a tool that Google runs itself (search, pages, code, a remote MCP server), or of a kind that is not known here. It is kept whole,
 * because it has to go back as it came.
 */
export class HostedStep {
  #step: Record<string, unknown>;
  #arguments = '';

  constructor(step: Record<string, unknown>) {
    this.#step = step;
  }

  /** False for a delta that belongs to another kind of step. */
  add(delta: Record<string, unknown>): boolean {
    const { signature, ...rest } = delta;
    // An empty signature replaces none.
    if (delta.type === this.#step.type) this.#step = { ...this.#step, ...rest, ...(signature ? { signature } : {}) };
    else if (delta.type === 'arguments_delta' && typeof delta.arguments === 'string') this.#arguments += delta.arguments;
    else return false;
    return true;
  }

  /** The step as it goes back. An empty signature is none. */
  get whole(): JsonObject {
    const { signature, ...step } = this.#step;
    const streamed = this.#arguments === '' ? undefined : parseJson(this.#arguments);
    return {
      ...step,
      ...(isRecord(streamed) ? { arguments: streamed } : {}),
      ...(filled(signature) ? { signature } : {}),
    } as JsonObject;
  }

  /** What a reader may want to see of it: code, and what it printed. */
  get words(): string {
    const { type, arguments: args, result } = this.whole;
    if (type === 'code_execution_call' && isRecord(args) && typeof args.code === 'string') return args.code;
    return type === 'code_execution_result' && typeof result === 'string' ? result : '';
  }
}
