import type { Json } from '@antiphon/engine';
import type { Outgoing } from '../http/exchange.js';
import { findServerError, type ServerError } from '../http/server-error.js';
import { type Service, type ServiceOptions, serviceFor, type Vendor } from '../http/service.js';
import type { WebSocketConstructor } from '../websocket/runtime.js';

/** Options of the adapters of ElevenLabs. */
export interface ElevenlabsOptions extends ServiceOptions {
  /** Instead of `ws` or the platform's own, for tests and other runtimes. It must take headers. */
  readonly webSocket?: WebSocketConstructor;
}

const VENDOR: Vendor = {
  name: 'elevenlabs',
  hosts: [
    'api.elevenlabs.io',
    'api.us.elevenlabs.io',
    'api-global-preview.elevenlabs.io',
    'api.eu.residency.elevenlabs.io',
    'api.in.residency.elevenlabs.io',
  ],
  root: '/v1',
  keyNames: ['ELEVENLABS_API_KEY'],
  needsKey: true,
  keyHeader: 'xi-api-key',
};

export const OWN_NAME = VENDOR.name;

export function elevenlabsService(factory: string, options: ElevenlabsOptions): Service {
  return serviceFor(factory, options, 'https://api.elevenlabs.io/v1', ['/text-to-speech', '/speech-to-text'], VENDOR);
}

/** The request to an endpoint whose settings stand in the address, lists member by member; undefined ones are left out. */
export async function withQuery(outgoing: Promise<Outgoing>, query: { readonly [name: string]: Json | undefined }): Promise<Outgoing> {
  const request = await outgoing;
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    request.url.searchParams.delete(name);
    for (const item of Array.isArray(value) ? value : [value]) request.url.searchParams.append(name, String(item));
  }
  return request;
}

/** Its words on a socket for what other servers call otherwise. */
const COMMON_WORDS: ReadonlyMap<string, string> = new Map([
  ['auth_error', 'authentication_error'],
  ['resource_exhausted', 'rate_limited'],
  ['queue_overflow', 'rate_limited'],
  ['commit_throttled', 'rate_limited'],
  ['unaccepted_terms', 'permission_denied'],
  ['system_busy', 'overloaded'],
  ['voice_not_found', 'invalid_request'],
  ['input_error', 'invalid_request'],
  ['chunk_size_exceeded', 'invalid_request'],
  ['session_time_limit_exceeded', 'invalid_request'],
  ['insufficient_audio_activity', 'timeout'],
  ['transcriber_error', 'server_error'],
]);

/** The error in a message of a socket; `word` is its kind when the message's type says it. */
export function errorIn(value: Record<string, unknown>, word?: string): ServerError | undefined {
  const found = findServerError(value) ?? (word === undefined ? undefined : { message: word, codes: [] });
  if (!found) return undefined;
  const words = [...found.codes, ...(word === undefined ? [] : [word])];
  return { ...found, codes: words.map(each => COMMON_WORDS.get(each) ?? each) };
}

/** BCP 47 to ISO 639: it knows languages, not regions. */
export function languageCode(tag: string | undefined): string | undefined {
  return tag?.split('-')[0]?.toLowerCase();
}
