import {
  type AdapterContext,
  type AdapterEvent,
  BlockWriter,
  type Burst,
  type ChatAdapter,
  type ChatRequest,
  ConfigurationError,
  inBursts,
} from '@antiphon/engine';
import { AnswerReader } from '../http/answer-reader.js';
import { readAnswer } from '../http/read-answer.js';
import { GeminiAnswer } from './answer.js';
import { continued } from './continuation.js';
import { type Endpoint, endpointFor, type GeminiOptions, PROVIDER } from './endpoint.js';
import { buildInteraction } from './interactions/request.js';
import { isGemini3 } from './models.js';
import { buildRequest } from './request.js';

export interface GeminiChatOptions extends GeminiOptions {
  /**
   * Which of Google's two APIs is spoken: `generateContent`, the default, or Interactions, which has what is new. An answer is read by what it
   * is, so a gateway may answer in either.
   *
   * ```ts
   * const chat = gemini({ model: 'gemini-3-flash-preview', api: 'interactions' });
   * ```
   */
  readonly api?: 'generate-content' | 'interactions';
}

/** How each API is asked. */
const APIS = {
  'generate-content': { method: 'streamGenerateContent', build: buildRequest },
  interactions: { method: 'interactions', build: buildInteraction },
} as const;

/**
 * A chat model behind the Gemini API. Thought signatures, ids of calls and code that Google ran are kept in the messages' provider state
 * and go back on the very parts that they came with. Fields of the API without a neutral setting go into `providerOptions.gemini`:
 * `{ safetySettings, cachedContent, tools: [{ googleSearch: {} }], generationConfig: { … } }`.
 *
 * With `api: 'interactions'` those fields are that API's: `{ tools: [{ type: 'google_search' }], service_tier, generation_config: { … } }`.
 * Nothing is stored at Google (`store: false`), and each request brings the whole thread with the thoughts' signatures. Who sets `store` may
 * pass the `responseId` of an answer as `previous_interaction_id`: then only what came after it is sent.
 *
 * Throws `ConfigurationError` (`invalid_option`) at once for a bad URL, header or model. A call throws `ConfigurationError` (`missing_key`)
 * before anything is sent when Google's own host would get no key, and `AdapterError` for every failure of the world. The key goes into a
 * header, never into the address, and no error ever holds it.
 *
 * ```ts
 * const engine = createEngine({ chat: gemini({ model: 'gemini-3-flash-preview' }) }); // the key is read from GEMINI_API_KEY
 * ```
 */
export function gemini(options: GeminiChatOptions): ChatAdapter {
  const endpoint = endpointFor('gemini', options);
  const { model, api = 'generate-content' } = options;
  if (!Object.hasOwn(APIS, api)) {
    throw new ConfigurationError('invalid_option', `gemini has no api "${api}": it is "generate-content" or "interactions".`);
  }
  const { method, build } = APIS[api];
  return {
    provider: PROVIDER,
    model,
    structuredOutput: true,
    structuredOutputWithTools: isGemini3(model),
    stream: (request, context) => inBursts(streamAnswer(request, context, endpoint, model, api), context.signal),
    async prepare(request, context) {
      const built = build(request, model);
      return endpoint.shown(method, built, context);
    },
  };
}

async function* streamAnswer(
  request: ChatRequest,
  context: AdapterContext,
  endpoint: Endpoint,
  ownModel: string,
  api: keyof typeof APIS,
): AsyncGenerator<Burst<AdapterEvent>, void> {
  context.signal.throwIfAborted();
  // Local checks before keys, keys before sockets.
  const { method, build } = APIS[api];
  const built = build(request, ownModel);
  const { model, ownNames } = built;
  const { raw } = request;
  const blocks = new BlockWriter();
  const answer = new GeminiAnswer(blocks);
  let { body, warnings } = built;
  for (;;) {
    const outgoing = await endpoint.outgoing(method, model, body, context);
    const { about } = outgoing;
    yield* readAnswer(outgoing, context, headers => new AnswerReader(blocks, answer, { headers, about, warnings, ownNames, raw }));
    const token = answer.goOn();
    if (token === undefined) return;
    // What is left of a long answer that the server paused; the warnings were told with its beginning.
    body = continued(built.body, token);
    warnings = [];
  }
}
