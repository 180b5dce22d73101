// What goes over the wire between an engine and its worker thread.

/** The calls that a worker answers: for each method what goes in and what comes out, both structured-cloneable. */
export type Contract<C> = { readonly [K in keyof C]: { readonly input: unknown; readonly output: unknown } };

export type ToWorker =
  | { readonly type: 'call'; readonly id: number; readonly method: string; readonly input: unknown }
  | { readonly type: 'abort'; readonly id: number }
  | { readonly type: 'close' };

export type FromWorker =
  | { readonly type: 'value'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: WireError };

/** An error as plain data: `code` is Node's, such as ERR_MODULE_NOT_FOUND. */
export interface WireError {
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

export function toWire(error: unknown): WireError {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { message: error.message, ...(code === undefined ? {} : { code }), ...(error.stack === undefined ? {} : { stack: error.stack }) };
}
