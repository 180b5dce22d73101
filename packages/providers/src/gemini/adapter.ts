import type { AdapterContext, AdapterEvent, ChatAdapter, ChatRequest } from '@antiphon/engine';
import { errorFromResponse } from '../http/errors.js';
import { Exchange } from '../http/exchange.js';
import { AnswerReader } from './answer.js';
import { type Endpoint, endpointFor, type GeminiOptions, PROVIDER } from './endpoint.js';
import { buildRequest } from './request.js';

const METHOD = 'streamGenerateContent';

/**
 * A chat model behind the Gemini API. Thought signatures, ids of calls and code that Google ran are kept in the messages' provider state
 * and go back on the very parts that they came with. Fields of the API without a neutral setting go into `providerOptions.gemini`:
 * `{ safetySettings, cachedContent, tools: [{ googleSearch: {} }], generationConfig: { … } }`.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for a bad URL, header or model. A call throws `ConfigurationError` (`missing_key`)
 * before anything is sent when Google's own host would get no key, and `AdapterError` for every failure of the world. The key goes into a
 * header, never into the address, and no error ever holds it.
 *
 * ```ts
 * const engine = createEngine({ chat: gemini({ model: 'gemini-3-flash-preview' }) }); // the key is read from GEMINI_API_KEY
 * ```
 */
export function gemini(options: GeminiOptions): ChatAdapter {
  const endpoint = endpointFor('gemini', options);
  const { model } = options;
  return {
    provider: PROVIDER,
    model,
    structuredOutput: true,
    stream: (request, context) => streamAnswer(request, context, endpoint, model),
    async prepare(request, context) {
      const built = buildRequest(request, model);
      return { ...endpoint.shown(METHOD, built.model, context), method: 'POST', body: built.body, warnings: built.warnings };
    },
  };
}

async function* streamAnswer(
  request: ChatRequest,
  context: AdapterContext,
  endpoint: Endpoint,
  ownModel: string,
): AsyncGenerator<AdapterEvent, void, undefined> {
  const { signal, clock } = context;
  signal.throwIfAborted();
  // Local checks before keys, keys before sockets.
  const { model, body, warnings } = buildRequest(request, ownModel);
  const outgoing = await endpoint.outgoing(METHOD, model, body, context);
  const { about } = outgoing;
  signal.throwIfAborted();
  const exchange = new Exchange(signal);
  try {
    const response = await exchange.send(outgoing);
    if (!response.ok) throw errorFromResponse(response, await exchange.readText(), clock, about);
    const answer = new AnswerReader(response.headers, about, warnings, request.raw);
    const shown = () => answer.shown;
    for (let open = true; open && !answer.failure; ) {
      const bytes = await exchange.read(shown);
      if (bytes) answer.feed(bytes);
      else {
        answer.end();
        open = false;
      }
      for (const event of answer.take()) {
        yield event;
        signal.throwIfAborted();
      }
    }
    if (answer.failure) throw answer.failure;
  } finally {
    exchange.close();
  }
}
