/**
 * What the Gemini API sends and takes. Of what it sends nothing is certain, so every field is `unknown` until it is looked at: the shapes
 * below only say which fields are read.
 */

export interface WireChunk {
  readonly candidates?: unknown;
  /** Why a prompt was not answered at all. */
  readonly promptFeedback?: unknown;
  readonly usageMetadata?: unknown;
  readonly modelVersion?: unknown;
  readonly responseId?: unknown;
  readonly error?: unknown;
}

export interface WireCandidate {
  readonly index?: unknown;
  readonly content?: unknown;
  readonly finishReason?: unknown;
  readonly finishMessage?: unknown;
  /** Where a paused answer goes on. */
  readonly continuationToken?: unknown;
  readonly groundingMetadata?: unknown;
  readonly citationMetadata?: unknown;
  readonly urlContextMetadata?: unknown;
}

export interface WirePart {
  readonly text?: unknown;
  /** The text is a summary of thoughts. */
  readonly thought?: unknown;
  /** Must go back on the same part. */
  readonly thoughtSignature?: unknown;
  readonly functionCall?: unknown;
  readonly inlineData?: unknown;
  readonly fileData?: unknown;
  readonly executableCode?: unknown;
  readonly codeExecutionResult?: unknown;
  /** A search or the like that the server made itself, and what it found. */
  readonly toolCall?: unknown;
  readonly toolResponse?: unknown;
}

export interface WireFunctionCall {
  readonly id?: unknown;
  readonly name?: unknown;
  /** All arguments at once. */
  readonly args?: unknown;
  /** Or their leaves one by one, each with a JSONPath. */
  readonly partialArgs?: unknown;
  readonly willContinue?: unknown;
}
