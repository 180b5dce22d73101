import { type BlockWriter, isRecord } from '@antiphon/engine';
import { PartialArgs } from './partial-args.js';
import { stateOf } from './state.js';
import type { WireFunctionCall } from './wire.js';

interface OpenCall {
  readonly key: number;
  readonly id: string;
  readonly args: PartialArgs;
}

/**
 * Calls of functions on the wire: whole ones, and ones whose arguments are streamed. A streamed call begins with its name and
 * `willContinue`; pieces without a name belong to it; it ends with a piece that says no `willContinue`, which may be empty, may hold the
 * last leaves, or may be missing when another call or the end of the answer follows.
 */
export class FunctionCalls {
  readonly #blocks: BlockWriter;
  #count = 0;
  #open: OpenCall | undefined;

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks;
  }

  add(call: WireFunctionCall, thoughtSignature: unknown): void {
    const { id, name, args, partialArgs, willContinue } = call;
    const named = typeof name === 'string' && name !== '';
    const open = this.#open;
    if (open && (named || (typeof id === 'string' && open.id !== '' && id !== open.id))) this.end();
    // The end of a call that has ended already.
    if (!this.#open && !named && args === undefined && !Array.isArray(partialArgs)) return;
    const current = this.#open ?? this.#begin(typeof id === 'string' ? id : '');
    const providerState = stateOf({ thoughtSignature, id });
    this.#blocks.toolCall(current.key, {
      ...(current.id === '' ? {} : { id: current.id }),
      ...(named ? { name } : {}),
      args: this.#argumentText(current, args, partialArgs),
      ...(providerState === undefined ? {} : { providerState }),
    });
    // Where the call does not say it, a leaf that goes on does.
    const goesOn = willContinue ?? (Array.isArray(partialArgs) && partialArgs.some(leaf => isRecord(leaf) && leaf.willContinue === true));
    if (goesOn === true) this.#open = current;
    else this.end(current);
  }

  /** The call has all its arguments, or will get no more. */
  end(call = this.#open): void {
    if (!call) return;
    this.#open = undefined;
    const args = call.args.end();
    if (args !== '') this.#blocks.toolCall(call.key, { args });
    this.#blocks.endToolCall(call.key);
  }

  #begin(id: string): OpenCall {
    return { key: this.#count++, id, args: new PartialArgs() };
  }

  #argumentText(call: OpenCall, args: unknown, partialArgs: unknown): string {
    let text = '';
    if (typeof args === 'string') text += args;
    else if (isRecord(args)) text += call.args.merge(args);
    if (!Array.isArray(partialArgs)) return text;
    for (const leaf of partialArgs) {
      const piece = call.args.add(leaf);
      if (piece !== undefined) text += piece;
      else {
        const excerpt = JSON.stringify(leaf)?.slice(0, 80);
        this.#blocks.warn({ code: 'malformed_event', message: `An argument without a place or a value was left out: ${excerpt}` });
      }
    }
    return text;
  }
}
