import type { EchoGuard } from '../interfaces/echo-guard.js';
import type { AudioSink } from '../interfaces/sink.js';

/** A sink that tells the guard what it is given. */
export function guardedSink(sink: AudioSink, guard: EchoGuard): AudioSink {
  return {
    name: sink.name,
    sampleRate: sink.sampleRate,
    write(samples) {
      guard.playing(samples);
      sink.write(samples);
    },
    get played() {
      return sink.played;
    },
    flush() {
      guard.flushed();
      return sink.flush();
    },
    close: () => sink.close(),
  };
}
