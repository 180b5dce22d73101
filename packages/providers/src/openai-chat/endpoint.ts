import { ConfigurationError } from '@antiphon/engine';
import { endpointUrl } from '../http/service.js';
import { guessProfile, PROFILES, type Profile, type ProfileOption, profileNamed } from './profiles.js';

export interface Endpoint {
  /** The address that requests go to. */
  readonly url: URL;
  /** The same without query, for messages. */
  readonly address: string;
  readonly profile: Profile;
  /** The host is the profile's own: only there is the environment's key sent. */
  readonly isOwnHost: boolean;
}

const CHAT = '/chat/completions';
/** Of this protocol, and of the other that the same servers speak. */
const PATHS = [CHAT, '/responses'] as const;

/**
 * Where requests go, from a base URL with or without `/v1`, trailing slash or the full path. `path` is the protocol's own. A query (Azure's
 * `api-version`) is kept. Throws `ConfigurationError` for an address that cannot be one, and for a profile that nobody knows.
 */
export function resolveEndpoint(baseURL: string, option: ProfileOption | undefined, path: (typeof PATHS)[number] = CHAT): Endpoint {
  const base = parse(baseURL);
  const guessed = guessProfile(base);
  const profile = chooseProfile(guessed, option);
  const url = endpointUrl(base, path, PATHS, (guessed.hosts.length > 0 ? guessed : profile).root);
  return {
    url,
    address: `${url.origin}${url.pathname}`,
    profile,
    isOwnHost: guessed.hosts.length > 0 && guessed.keyName === profile.keyName,
  };
}

function parse(baseURL: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(baseURL.trim());
  } catch {
    // Reported below: the platform's message may repeat the text, and with it a key.
  }
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigurationError('invalid_option', 'The baseURL must be an absolute http or https URL, such as http://127.0.0.1:11434/v1.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError(
      'invalid_option',
      `The baseURL for ${url.host} has a user name or password in it, which fetch refuses: pass them as apiKey or headers.`,
    );
  }
  return url;
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
