import type { LoadedConfig } from '../config.js';
import type { Output } from '../output.js';

/** What every command is given. */
export interface CommandContext extends LoadedConfig {
  readonly output: Output;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
}
