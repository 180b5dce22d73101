import type { VoiceEvent } from '../turns/events.js';
import { Channel } from './channel.js';

/** Tells what happens to everybody who asked: readers at their own pace, watchers at once. */
export class VoiceEvents implements AsyncIterable<VoiceEvent> {
  readonly #readers = new Set<Channel<VoiceEvent>>();
  readonly #watchers = new Set<(event: VoiceEvent) => void>();
  #closed = false;

  emit(event: VoiceEvent): void {
    for (const watcher of this.#watchers) watcher(event);
    for (const reader of this.#readers) reader.push(event);
  }

  /** Returns what ends it. */
  watch(watcher: (event: VoiceEvent) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Every event from now on, until it is closed. */
  [Symbol.asyncIterator](): AsyncIterator<VoiceEvent, void> {
    const reader = new Channel<VoiceEvent>();
    if (this.#closed) reader.close();
    this.#readers.add(reader);
    const events = reader[Symbol.asyncIterator]();
    return {
      next: () => events.next(),
      return: async () => {
        this.#readers.delete(reader);
        reader.close();
        return { done: true, value: undefined };
      },
    };
  }

  close(): void {
    this.#closed = true;
    for (const reader of this.#readers) reader.close();
    this.#readers.clear();
    this.#watchers.clear();
  }
}
