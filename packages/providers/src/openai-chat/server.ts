// How a server of OpenAI's two chat protocols is found and asked.
import {
  type AdapterContext,
  type AdapterEvent,
  type BlockWriter,
  type Burst,
  type ChatAdapter,
  type ChatRequest,
  ConfigurationError,
  inBursts,
} from '@antiphon/engine';
import { type AnswerParser, AnswerReader } from '../http/answer-reader.js';
import { checkedBaseURL, checkedHeaders, checkedModel } from '../http/checks.js';
import { keyFor } from '../http/keys.js';
import { outgoing, requestHeaders, shownRequest } from '../http/outgoing.js';
import { readAnswer } from '../http/read-answer.js';
import { endpointUrl, type ServiceOptions } from '../http/service.js';
import { guessProfile, PROFILES, type Profile, type ProfileOption, profileNamed } from './profiles.js';
import type { BuiltRequest } from './request.js';

/** What one of the protocols has of its own. */
export interface Protocol<Built extends BuiltRequest> {
  /** The factory's name, for errors. */
  readonly factory: string;
  /** The server, when the options name none. */
  readonly baseURL: string;
  readonly path: (typeof PATHS)[number];
  /** Name of a model, for errors. */
  readonly exampleModel: string;
  structuredOutput(profile: Profile): boolean;
  build(request: ChatRequest, model: string, profile: Profile): Built;
  /** The reader of the answer to this request, and what it writes into. */
  read(profile: Profile, built: Built): { readonly blocks: BlockWriter; readonly parser: AnswerParser };
}

/** Of the protocols that the same servers speak. */
const PATHS = ['/chat/completions', '/responses'] as const;

/**
 * The adapter of a model behind the server that a factory's options mean. The base URL may be with or without `/v1`, trailing slash or the full
 * path; a query (Azure's `api-version`) is kept. Throws `ConfigurationError` (`invalid_option`) for options that cannot be right, and for a
 * profile that nobody knows.
 */
export function adapterFor<Built extends BuiltRequest>(
  options: ServiceOptions & { readonly profile?: ProfileOption },
  protocol: Protocol<Built>,
): ChatAdapter {
  const { factory, path } = protocol;
  const { baseURL = protocol.baseURL, apiKey, fetch } = options;
  const model = checkedModel(factory, options.model, protocol.exampleModel);
  const base = checkedBaseURL(baseURL, protocol.baseURL);
  const guessed = guessProfile(base);
  const profile = chooseProfile(guessed, options.profile);
  const { name: provider, keyName, keyHeader, needsKey, unreachableHint } = profile;
  const isKnownHost = guessed.hosts.length > 0;
  const url = endpointUrl(base, path, PATHS, (isKnownHost ? guessed : profile).root);
  // Only to the profile's own host goes the environment's key.
  const keyNames = keyName !== undefined && isKnownHost && guessed.keyName === keyName ? [keyName] : [];
  const given = checkedHeaders(options.headers);
  const headersWith = (key: string | undefined) => requestHeaders('text/event-stream', keyHeader, key, given);

  async function* stream(request: ChatRequest, context: AdapterContext): AsyncGenerator<Burst<AdapterEvent>, void> {
    context.signal.throwIfAborted();
    // Local checks before keys, keys before sockets.
    const built = protocol.build(request, model, profile);
    const { body, warnings, ownNames } = built;
    const key = await keyFor({ provider, factory, apiKey, keyNames, needsKey, given }, context);
    const sent = outgoing(provider, { url, headers: headersWith(key), body, fetch }, unreachableHint);
    yield* readAnswer(sent, context, headers => {
      const { blocks, parser } = protocol.read(profile, built);
      return new AnswerReader(blocks, parser, { headers, about: sent.about, warnings, ownNames, raw: request.raw });
    });
  }
  return {
    provider,
    model,
    structuredOutput: protocol.structuredOutput(profile),
    stream: (request, context) => inBursts(stream(request, context), context.signal),
    async prepare(request, context) {
      // No key is asked for; where one would be sent, its place is shown.
      const hasKey = needsKey || apiKey !== undefined || context.apiKey !== undefined;
      return shownRequest(url, headersWith(hasKey ? 'key' : undefined), protocol.build(request, model, profile));
    },
  };
}

function chooseProfile(guessed: Profile, option: ProfileOption | undefined): Profile {
  if (option === undefined) return guessed;
  const name = typeof option === 'string' ? option : option.name;
  const known = name === undefined ? guessed : profileNamed(name);
  if (typeof option === 'string') {
    if (known) return known;
    throw new ConfigurationError(
      'invalid_option',
      `There is no profile "${option}". Known are ${PROFILES.map(profile => profile.name).join(', ')}; or pass an object of flags.`,
    );
  }
  // A new name with flags describes a server of one's own.
  return { ...(known ?? guessed), ...option };
}
