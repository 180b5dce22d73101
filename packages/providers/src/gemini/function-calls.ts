import { type BlockWriter, isRecord } from '@antiphon/engine';
import { filled } from '../http/wire-values.js';
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
 * `willContinue`; pieces that repeat its id belong to it, and pieces without name and id to the call that spoke last. It ends with a piece
 * that says no `willContinue`, which may be empty, may hold the last leaves, or may be missing when another call or the end of the answer
 * follows. Calls with ids may come side by side.
 */
export class FunctionCalls {
  readonly #blocks: BlockWriter;
  #count = 0;
  /** The one that spoke last stands last. */
  readonly #open = new Set<OpenCall>();

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks;
  }

  add(call: WireFunctionCall, thoughtSignature: unknown): void {
    const { id: givenId, name, args, partialArgs, willContinue } = call;
    const id = typeof givenId === 'string' ? givenId : '';
    const named = filled(name);
    const known = this.#find(id, named);
    // The end of a call that has ended already.
    if (!known && !named && args === undefined && !Array.isArray(partialArgs)) return;
    const current = known ?? this.#begin(id);
    const providerState = stateOf({ thoughtSignature, id });
    this.#blocks.toolCall(current.key, {
      ...(current.id === '' ? {} : { id: current.id }),
      ...(named ? { name } : {}),
      args: this.#argumentText(current, args, partialArgs),
      ...(providerState === undefined ? {} : { providerState }),
    });
    // Where the call does not say it, a leaf that goes on does.
    const goesOn = willContinue ?? (Array.isArray(partialArgs) && partialArgs.some(leaf => isRecord(leaf) && leaf.willContinue === true));
    this.#open.delete(current);
    if (goesOn === true) this.#open.add(current);
    else this.#close(current);
  }

  /** No call will get more arguments. */
  end(): void {
    for (const call of this.#open) this.#close(call);
    this.#open.clear();
  }

  #find(id: string, named: boolean): OpenCall | undefined {
    const last = [...this.#open].at(-1);
    const same = id === '' ? undefined : [...this.#open].find(call => call.id === id);
    if (same) return same;
    return named || (id !== '' && last?.id !== '') ? undefined : last;
  }

  #close(call: OpenCall): void {
    const args = call.args.end();
    if (args !== '') this.#blocks.toolCall(call.key, { args });
    this.#blocks.endToolCall(call.key);
  }

  /** Only a call with an id can be spoken of again behind another. */
  #begin(id: string): OpenCall {
    for (const call of this.#open) {
      if (id !== '' && call.id !== '') continue;
      this.#open.delete(call);
      this.#close(call);
    }
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
