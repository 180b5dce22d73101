/**
 * What servers of the OpenAI chat completions dialect send and take. Of what they send nothing is certain, so every field is `unknown` until
 * it is looked at: the shapes below only say which fields are read.
 */

export interface WireChunk {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly object?: unknown;
  readonly choices?: unknown;
  readonly usage?: unknown;
  /** Groq */
  readonly x_groq?: unknown;
  /** Perplexity, xAI: URLs, again in each chunk. */
  readonly citations?: unknown;
  readonly search_results?: unknown;
  readonly error?: unknown;
}

export interface WireChoice {
  readonly index?: unknown;
  readonly delta?: unknown;
  /** Instead of `delta` in an answer that is not streamed. */
  readonly message?: unknown;
  /** Instead of `delta` in the older completions dialect. */
  readonly text?: unknown;
  readonly finish_reason?: unknown;
  /** Moonshot */
  readonly usage?: unknown;
  /** OpenRouter */
  readonly error?: unknown;
}

export interface WireDelta {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_details?: unknown;
  /** GitHub Copilot: what the model thought, and the same sealed. */
  readonly reasoning_text?: unknown;
  readonly reasoning_opaque?: unknown;
  readonly tool_calls?: unknown;
  /** What tool calls were called before 2023-11. */
  readonly function_call?: unknown;
  readonly annotations?: unknown;
  readonly images?: unknown;
  readonly audio?: unknown;
}

export interface WireToolDelta {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: unknown;
  /** Google: signatures of thoughts, to be sent back. */
  readonly extra_content?: unknown;
}
