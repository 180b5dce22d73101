import type { CapabilityStream, SpeechAdapter, SpeechAdapterEvent } from '@antiphon/engine';
import { deaf } from '../support.js';

export const bytes = (...values: number[]) => Uint8Array.from(values);

export async function eventsOf<E extends { readonly type: string }>(stream: CapabilityStream<E, unknown>) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}
/** A voice whose stream yields these events, and then does this. */
export function voice(events: readonly unknown[], then: () => unknown = () => {}): SpeechAdapter {
  async function* stream() {
    yield* events as SpeechAdapterEvent[];
    await then();
  }
  return { provider: 'mine', model: 'm', timestamps: true, speak: deaf, streamSpeech: stream, streamSpeechFromText: stream };
}
export const START = { type: 'speech_start', mediaType: 'audio/pcm', format: 'pcm', sampleRate: 24_000 };
export const AUDIO = { type: 'audio_delta', bytes: bytes(1, 2) };
export const END = { type: 'speech_end', usage: { characters: 5 } };
