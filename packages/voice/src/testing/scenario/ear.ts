// The ear of a scenario: what voice activity and speech to text say, to the millisecond.
import type { Ear, EarOptions } from '../../session/ear.js';
import type { TurnPolicy } from '../../turns/policy.js';

/** A stretch of sound with its times. */
export interface Sound {
  readonly from: number;
  readonly to: number;
  /** Undefined for a noise. */
  readonly words?: {
    readonly text: string;
    readonly partials: readonly (readonly [number, string])[];
    readonly finalMs: number;
    readonly finished: boolean;
    /** How often it is not understood before it is. */
    readonly failures: number;
    readonly error?: string;
  };
}

/** Listens to sounds that are told to it. Those that follow within `silenceMs` are one stretch of speech for voice activity. */
export class ScriptedEar {
  readonly #vad: { readonly onsetMs: number; readonly silenceMs: number };
  readonly #policy: TurnPolicy;
  #options: EarOptions | undefined;
  #utterance = 0;
  /** When the present stretch ends; undefined in silence. */
  #hearsUntil: number | undefined;
  #spoken = 0;
  #accepted = false;
  /** The noise with which the present stretch began. */
  #noise: number | undefined;
  readonly #timers = new Set<() => void>();

  constructor(vad: { readonly onsetMs: number; readonly silenceMs: number }, policy: TurnPolicy) {
    this.#vad = vad;
    this.#policy = policy;
  }

  readonly listen: Ear = options => {
    this.#options = options;
    return new Promise(resolve => {
      const stop = () => {
        for (const cancel of this.#timers) cancel();
        resolve();
      };
      options.signal.addEventListener('abort', stop, { once: true });
    });
  };

  /** The sound begins now. */
  hear(sound: Sound): void {
    const options = this.#options;
    if (!options || options.signal.aborted) return;
    const { from, to, words } = sound;
    const { onsetMs, silenceMs } = this.#vad;
    const utterance = this.#utterance++;
    let before = 0;
    const at = (time: number, act: () => void) => {
      this.#timers.add(options.clock.setTimer(Math.max(0, time - options.now()), act));
    };
    // A sound that is over before it is noticed was none.
    if (to - from < onsetMs) return;
    at(from + onsetMs, () => {
      const goesOn = this.#hearsUntil !== undefined;
      before = goesOn ? this.#spoken : 0;
      this.#accepted = words !== undefined || (goesOn && this.#accepted);
      this.#hearsUntil = to + silenceMs;
      const type = goesOn ? 'speech_resumes' : 'speech_start';
      options.dispatch({ type, utterance, startedAt: from });
      // A noise beside words has none itself; alone, it is rejected in the end.
      if (goesOn && words && this.#noise !== undefined) this.#noWords(this.#noise, from);
      if (goesOn && !words) this.#noWords(utterance, to);
      if (!goesOn || words) this.#noise = goesOn || words ? undefined : utterance;
      options.dispatch({ type: 'speech_goes_on', utterance, spokenMs: before + onsetMs });
    });
    const { duckMs, pauseMs } = this.#policy.interrupt;
    for (const threshold of [duckMs, pauseMs]) {
      if (threshold === false) continue;
      const time = from + threshold;
      if (threshold > onsetMs && time <= to)
        at(time, () => options.dispatch({ type: 'speech_goes_on', utterance, spokenMs: before + threshold }));
    }
    at(to, () => {
      this.#spoken = before + to - from;
    });
    at(to + silenceMs, () => {
      if (this.#hearsUntil !== to + silenceMs) return;
      this.#hearsUntil = undefined;
      options.dispatch({ type: 'speech_end', utterance, endedAt: to, accepted: this.#accepted });
    });
    if (!words) return;
    for (const [time, text] of words.partials)
      at(time < from ? from + time : time, () => options.dispatch({ type: 'stt_partial', utterance, text }));
    at(to + words.finalMs, () => {
      const { text, finished, failures, error = 'speech to text failed' } = words;
      for (let failure = 1; failure <= Math.min(2, failures); failure++)
        options.dispatch({ type: 'stt_error', utterance, message: error, final: failure === 2 });
      if (failures < 2) options.dispatch({ type: 'stt_final', utterance, text, endedAt: to, finished });
    });
  }

  #noWords(utterance: number, endedAt: number): void {
    this.#options?.dispatch({ type: 'stt_final', utterance, text: '', endedAt, finished: true });
  }

  /** The microphone hears the loudspeaker: the guard has kept it from becoming speech. */
  echo(): void {
    this.#options?.dispatch({ type: 'echo' });
  }
}
