// What an adapter cannot do, and what an answer cannot be.
import { AdapterError } from '../errors.js';

/** `AdapterError('unsupported')` with every limit of the adapter that a request breaks; nothing was sent. */
export function refuseUnsupported(provider: string, faults: readonly (string | false | undefined)[]): void {
  const real = faults.filter(fault => typeof fault === 'string');
  if (real.length === 0) return;
  throw new AdapterError('unsupported', `${provider}: ${real.join('; ')}. Nothing was sent.`, { provider });
}

/** Some limits are those of the adapter's own model. For another one that a request names, only the adapter knows them. */
export function isOwnModel(adapter: { readonly model: string }, request: { readonly model?: string }): boolean {
  return request.model === undefined || request.model === adapter.model;
}

export function malformed(provider: string, what: string): AdapterError {
  return new AdapterError('malformed_response', `${provider}: ${what}.`, { provider });
}
