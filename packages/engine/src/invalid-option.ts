import { ConfigurationError } from './errors.js';

/** The error for a part, an option or a setting that cannot work; the message says which and what it must be. */
export function invalidOption(message: string): ConfigurationError {
  return new ConfigurationError('invalid_option', message);
}
