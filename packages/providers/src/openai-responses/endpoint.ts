import { type Endpoint, resolveEndpoint } from '../openai-chat/endpoint.js';
import type { ProfileOption } from '../openai-chat/profiles.js';

const CHAT = '/chat/completions';
const RESPONSES = '/responses';

/**
 * Where requests go: the same servers as in the chat dialect, behind another path. The base URL may stand with or without `/v1`, or be the
 * full path; a query (Azure's `api-version`) is kept. Throws `ConfigurationError` as `resolveEndpoint` does.
 */
export function responsesEndpoint(baseURL: string, option: ProfileOption | undefined): Endpoint {
  const endpoint = resolveEndpoint(baseURL.replace(/\/responses\/*(?=$|[?#])/, CHAT), option);
  const url = new URL(endpoint.url);
  url.pathname = url.pathname.slice(0, -CHAT.length) + RESPONSES;
  return { ...endpoint, url, address: `${url.origin}${url.pathname}` };
}
