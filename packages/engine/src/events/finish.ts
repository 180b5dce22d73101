/** Why the model stopped, in words that are the same for every provider. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error' | 'other';

/** Something that was asked for and not done, or done otherwise. */
export interface Warning {
  readonly code: 'unsupported_setting' | 'malformed_event' | 'repaired_arguments' | 'repaired_history' | 'repaired_output' | 'other';
  readonly message: string;
  readonly setting?: string;
}
