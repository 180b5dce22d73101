// The errors of this package. Every message is one line that says what happened; `hint` says what to do about it.

/** What all errors of this package share: `reason` for programs (a closed set per class), `message` and `hint` for people. */
export abstract class SpeechError extends Error {
  /** What to do about it, for people; also the end of `message`. */
  readonly hint: string;

  constructor(message: string, hint: string, cause?: unknown) {
    super(hint === '' ? message : `${message} ${hint}`, cause === undefined ? undefined : { cause });
    this.hint = hint;
  }
}

export type ModelReason = 'unknown' | 'missing' | 'damaged' | 'npm_failed' | 'download_failed' | 'integrity_mismatch' | 'write_failed';

/**
 * A model is not there, not intact, or could not be fetched.
 *
 * @example
 * try { await sileroVad(); } catch (error) {
 *   if (error instanceof ModelError && error.reason === 'missing') console.error(error.hint); // Run: antiphon models pull silero-vad-v6
 * }
 */
export class ModelError extends SpeechError {
  override readonly name = 'ModelError';

  constructor(
    readonly reason: ModelReason,
    /** The model's name in the catalog. */
    readonly model: string,
    message: string,
    hint: string,
    cause?: unknown,
  ) {
    super(message, hint, cause);
  }
}

export type AudioReason = 'not_wav' | 'empty' | 'unsupported' | 'damaged' | 'not_found' | 'invalid';

/** Audio that cannot be read, written or converted. */
export class AudioError extends SpeechError {
  override readonly name = 'AudioError';

  constructor(
    readonly reason: AudioReason,
    message: string,
    hint: string,
    cause?: unknown,
  ) {
    super(message, hint, cause);
  }
}

export type EngineReason = 'missing_dependency' | 'crashed' | 'closed' | 'failed' | 'invalid_option';

/** A speech engine could not start, broke down, or was used after `close()`. After `crashed` the next call starts a fresh worker. */
export class EngineError extends SpeechError {
  override readonly name = 'EngineError';

  constructor(
    readonly reason: EngineReason,
    message: string,
    hint: string,
    cause?: unknown,
  ) {
    super(message, hint, cause);
  }
}
