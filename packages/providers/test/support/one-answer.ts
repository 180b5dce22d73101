// A fetch that gives one answer, and the servers of the conformance kits made of it.
import type { AdapterUnderTest, RequestScenario } from '@antiphon/engine/testing';

type FakeFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Always this JSON. `seen` holds the requests. */
export function jsonFetch(body: unknown, init: ResponseInit = {}) {
  const seen: { url: URL; headers: Headers; body: unknown }[] = [];
  const fetch: FakeFetch = async (url, request) => {
    seen.push({ url: new URL(url), headers: new Headers(request?.headers), body: request?.body });
    return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' }, ...init });
  };
  return { fetch, seen };
}

/** What a conformance kit needs: an adapter over a server that behaves as a scenario says. `wire` writes the answer as the provider would. */
export function makeUnderTest<Adapter, Answer>(make: (fetch: FakeFetch) => Adapter, wire: (answer: Answer) => object) {
  return (scenario: RequestScenario<Answer>): AdapterUnderTest<Adapter> => {
    const seen = { requests: 0, open: 0 };
    const fetch: FakeFetch = async (_, init) => {
      seen.requests++;
      init?.signal?.throwIfAborted();
      if (scenario.kind === 'answer') return new Response(JSON.stringify(wire(scenario.answer)));
      if (scenario.kind === 'failure') {
        const { status, message, retryAfterMs } = scenario;
        const headers = retryAfterMs === undefined ? {} : { 'retry-after': String(retryAfterMs / 1000) };
        return new Response(JSON.stringify({ error: { message } }), { status, headers });
      }
      seen.open++;
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => {
          seen.open--;
          reject(init.signal?.reason);
        });
      });
    };
    return { adapter: make(fetch), requests: () => seen.requests, open: () => seen.open };
  };
}
