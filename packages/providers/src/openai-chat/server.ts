// One configured server of OpenAI's chat protocols: where it is, who it is, and how it is asked.
import { type AdapterContext, ConfigurationError, type PreparedRequest, type Warning } from '@antiphon/engine';
import { checkedBaseURL, checkedHeaders, checkedModel } from '../http/checks.js';
import type { Outgoing } from '../http/exchange.js';
import { keyFor } from '../http/keys.js';
import { outgoing, requestHeaders, shownRequest } from '../http/outgoing.js';
import { endpointUrl, type ServiceOptions } from '../http/service.js';
import { guessProfile, PROFILES, type Profile, type ProfileOption, profileNamed } from './profiles.js';

export interface Server {
  readonly model: string;
  readonly profile: Profile;
  /** The request with its key. Throws `ConfigurationError` (`missing_key`) when the server wants one and there is none. */
  outgoing(body: string, context: AdapterContext): Promise<Outgoing>;
  /** The request as it would be sent. No key is asked for; where one would be sent, its place is shown. */
  shown(built: { readonly body: string; readonly warnings: readonly Warning[] }, context: AdapterContext): PreparedRequest;
}

interface Defaults {
  readonly baseURL: string;
  /** The protocol's own path. */
  readonly path: (typeof PATHS)[number];
  /** Name of a model, for errors. */
  readonly model: string;
}

/** Of the two protocols that the same servers speak. */
const PATHS = ['/chat/completions', '/responses'] as const;

/**
 * The server that a factory's options mean. The base URL may be with or without `/v1`, trailing slash or the full path; a query (Azure's
 * `api-version`) is kept. Throws `ConfigurationError` (`invalid_option`) for options that cannot be right, and for a profile that nobody knows.
 */
export function serverFor(factory: string, options: ServiceOptions & { readonly profile?: ProfileOption }, defaults: Defaults): Server {
  const { baseURL = defaults.baseURL, apiKey, fetch } = options;
  const model = checkedModel(factory, options.model, defaults.model);
  const base = checkedBaseURL(baseURL, 'http://127.0.0.1:11434/v1');
  const guessed = guessProfile(base);
  const profile = chooseProfile(guessed, options.profile);
  const { name: provider, keyName, keyHeader, needsKey, unreachableHint } = profile;
  const isKnownHost = guessed.hosts.length > 0;
  const url = endpointUrl(base, defaults.path, PATHS, (isKnownHost ? guessed : profile).root);
  // Only to the profile's own host goes the environment's key.
  const keyNames = keyName !== undefined && isKnownHost && guessed.keyName === keyName ? [keyName] : [];
  const given = checkedHeaders(options.headers);
  const headersWith = (key: string | undefined) => requestHeaders('text/event-stream', keyHeader, key, given);
  return {
    model,
    profile,
    async outgoing(body, context) {
      const key = await keyFor({ provider, factory, apiKey, keyNames, needsKey, given }, context);
      return outgoing(provider, { url, headers: headersWith(key), body, fetch }, unreachableHint);
    },
    shown(built, context) {
      const hasKey = needsKey || apiKey !== undefined || context.apiKey !== undefined;
      return shownRequest(url, headersWith(hasKey ? 'key' : undefined), built);
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
