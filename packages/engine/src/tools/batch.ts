import type { Clock } from '../clock.js';
import type { Engine, Tool, ToolErrorPolicy, ToolExecutor } from '../contract.js';
import type { Json } from '../data/json.js';
import type { ToolCall } from '../data/parts.js';
import type { PendingQuestion } from '../events/outcome.js';
import type { ResultEncoder } from './encode.js';

/** What a batch of calls needs beside the calls. */
export interface BatchContext {
  readonly tools: ReadonlyMap<string, Tool>;
  /** Default `executeTool`. */
  readonly executor?: ToolExecutor;
  /** Default `encodeResult`. */
  readonly encode?: ResultEncoder;
  readonly onToolError: ToolErrorPolicy;
  readonly context: unknown;
  readonly sessionId?: string;
  readonly requestId: string;
  /** For tools without a timeout of their own. */
  readonly timeouts?: { readonly toolMs?: number };
  readonly engine?: Engine;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** What a batch leaves open, beside the results that its events tell; everything in the order of the calls. */
export interface BatchReport {
  readonly questions: readonly PendingQuestion[];
  readonly approvals: readonly ToolCall[];
  readonly manual: readonly ToolCall[];
  readonly halts: readonly { readonly callId: string; readonly reason: string; readonly value?: Json }[];
}
