import { type ChatAdapter, ConfigurationError } from '@antiphon/engine';
import { anthropic } from '../anthropic/adapter.js';
import { gemini } from '../gemini/adapter.js';
import type { Fetch } from '../http/exchange.js';
import type { ApiKey } from '../http/keys.js';
import { llamaCpp } from '../llama-cpp/adapter.js';
import { openaiChat } from '../openai-chat/adapter.js';
import { PROFILES, type Profile } from '../openai-chat/profiles.js';
import { openaiResponses } from '../openai-responses/adapter.js';

/** What a registry hands to a factory. */
export interface FactoryOptions {
  /** The provider's own name of the model; for `gguf`, a path. */
  readonly model: string;
  readonly apiKey?: ApiKey;
  readonly baseURL?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: Fetch;
}

export type ChatFactory = (options: FactoryOptions) => ChatAdapter;

/** Providers with a protocol of their own. A row is all that one more needs. */
const OWN: { readonly [provider: string]: ChatFactory } = {
  anthropic,
  google: gemini,
  gguf: ({ model }) => llamaCpp({ modelPath: model }),
  'openai-responses': openaiResponses,
};

/** Models that run at home have names that no list can know, and need no warning. */
const AT_HOME: ReadonlySet<string> = new Set(['gguf', ...PROFILES.filter(({ port }) => port !== undefined).map(({ name }) => name)]);

/** Another protocol of a vendor's, for the same models. */
const VENDORS: { readonly [provider: string]: string } = { 'openai-responses': 'openai' };

/** The provider under whose name the models of this one are known. */
export function vendorOf(provider: string): string {
  return Object.hasOwn(VENDORS, provider) ? VENDORS[provider]! : provider;
}

/** The factory for a provider; undefined when there is none. */
export function factoryFor(provider: string): ChatFactory | undefined {
  if (Object.hasOwn(OWN, provider)) return OWN[provider];
  const profile = PROFILES.find(({ name }) => name === provider);
  return profile && (options => openaiChat({ profile: profile.name, ...options, baseURL: options.baseURL ?? placeOf(profile) }));
}

/** Every provider that a model can be asked of, in the order of the alphabet. */
export function knownProviders(): readonly string[] {
  return [...new Set([...Object.keys(OWN), ...PROFILES.map(({ name }) => name)])].sort();
}

export function runsAtHome(provider: string): boolean {
  return AT_HOME.has(provider);
}

/** A profile's usual address: its own host, or this machine. */
function placeOf({ name, hosts, port, root }: Profile): string {
  const host = hosts.find(each => !each.startsWith('.'));
  if (host !== undefined) return `https://${host}${root}`;
  if (port !== undefined) return `http://127.0.0.1:${port}${root}`;
  throw new ConfigurationError('invalid_option', `Every user of ${name} has an address of their own: pass { baseURL: "https://…" }.`);
}
