import { type ChatAdapter, ConfigurationError, type Price, type PriceTable, type Warning } from '@antiphon/engine';
import type { ApiKey } from '../http/keys.js';
import { REGISTRY_DATA } from './data.js';
import { type FactoryOptions, factoryFor, knownProviders, runsAtHome, vendorOf } from './factories.js';
import type { ModelFacts, ModelInfo, RegistryData } from './types.js';
import { warnFirst } from './warn-first.js';

/** Options of `model()` beside the id. */
export type ModelOptions = Omit<FactoryOptions, 'model'>;

export interface RegistryOptions {
  /** Facts instead of those that the package comes with. */
  readonly data?: RegistryData;
  /** Keys by provider. A provider without one is asked for it as its adapter does by itself: the engine's keys, the environment. */
  readonly keys?: { readonly [provider: string]: ApiKey };
}

/** Facts about models, and the way from a name to an adapter. */
export interface Registry {
  /** When the facts were gathered. */
  readonly date: string;
  /** The adapter for `provider/model` or an alias. See `model`. */
  model(id: string, options?: ModelOptions): ChatAdapter;
  /** What is known of a model. Throws `ConfigurationError` for an id without a provider. `info('openai/gpt-5.1').context` → 400000 */
  info(id: string): ModelInfo;
  /** All models with facts. */
  list(): readonly ModelInfo[];
  /**
   * Prices for an engine's budget, by the names that providers use: of one provider, or of all. A name that two providers sell at different
   * prices is left out of the latter.
   */
  pricesOf(provider?: string): PriceTable;
}

/**
 * A registry of models.
 *
 * ```ts
 * const registry = createRegistry({ keys: { openai: () => vault.read('openai') } });
 * const chat = registry.model('openai/gpt-5.1');
 * const { context, can } = registry.info('openai/gpt-5.1');
 * ```
 */
export function createRegistry({ data = REGISTRY_DATA, keys = {} }: RegistryOptions = {}): Registry {
  const info = (id: string): ModelInfo => {
    const { provider, model: name } = parseId(id, data);
    const facts = factsOf(data, provider, name);
    return { ...facts, id: `${provider}/${name}`, provider, model: name, known: facts !== undefined };
  };
  return {
    date: data.date,
    info,
    list: () =>
      Object.entries(data.models).flatMap(([provider, models]) =>
        Object.entries(models).map(([name, facts]) => ({ ...facts, id: `${provider}/${name}`, provider, model: name, known: true })),
      ),
    pricesOf: provider => pricesIn(data, provider),
    model(id, options = {}) {
      const about = info(id);
      const { provider } = about;
      const factory = factoryFor(provider);
      if (!factory) {
        const message = `No adapter is known for the provider "${provider}" of "${id}". Known are ${knownProviders().join(', ')}.`;
        throw new ConfigurationError('invalid_option', message);
      }
      const holder = Object.hasOwn(keys, provider) ? provider : vendorOf(provider);
      const key = Object.hasOwn(keys, holder) ? { apiKey: keys[holder]! } : {};
      const adapter = factory({ ...key, ...options, model: about.model });
      return warnFirst(adapter, warningsFor(about, data));
    },
  };
}

const standard = createRegistry();

/**
 * The adapter for a model named `provider/model`, such as `openai/gpt-5.1`, `anthropic/claude-sonnet-4-5`, `ollama/llama3.2` or
 * `gguf/models/small.gguf`, or by an alias. Keys come from where the provider's adapter takes them. A hosted model of which the registry
 * knows nothing works all the same, and its first answer carries a warning; so does one that its vendor is about to end.
 *
 * Throws `ConfigurationError` (`invalid_option`) for a name without a provider, and for a provider that nobody knows.
 *
 * ```ts
 * const engine = createEngine({ chat: model('ollama/llama3.2') });
 * ```
 */
export function model(id: string, options?: ModelOptions): ChatAdapter {
  return standard.model(id, options);
}

/** Prices of the package's own registry. `pricesOf('openai')['gpt-5.1']?.output` → 10 */
export function pricesOf(provider?: string): PriceTable {
  return standard.pricesOf(provider);
}

function parseId(id: string, { aliases = {} }: RegistryData): { readonly provider: string; readonly model: string } {
  const full = typeof id === 'string' && Object.hasOwn(aliases, id) ? aliases[id]! : id;
  const slash = typeof full === 'string' ? full.indexOf('/') : -1;
  if (slash <= 0 || slash === full.length - 1) {
    const known = Object.keys(aliases);
    const hint = known.length > 0 ? `, or be one of ${known.join(', ')}` : '';
    throw new ConfigurationError(
      'invalid_option',
      `A model's name must be "provider/model", such as "openai/gpt-5.1"${hint}, not ${JSON.stringify(id)}.`,
    );
  }
  return { provider: full.slice(0, slash), model: full.slice(slash + 1) };
}

function factsOf({ models }: RegistryData, provider: string, name: string): ModelFacts | undefined {
  const vendor = Object.hasOwn(models, provider) ? provider : vendorOf(provider);
  if (!Object.hasOwn(models, vendor)) return undefined;
  const known = models[vendor]!;
  if (Object.hasOwn(known, name)) return known[name];
  return Object.values(known).find(({ snapshots = [] }) => snapshots.includes(name));
}

function warningsFor({ id, provider, known, deprecated }: ModelInfo, { date }: RegistryData): readonly Warning[] {
  if (deprecated) {
    const instead = deprecated.replacement === undefined ? '' : ` Use ${deprecated.replacement}.`;
    return [{ code: 'other', setting: 'model', message: `${id} is ${deprecated.note}.${instead}` }];
  }
  if (known || runsAtHome(provider)) return [];
  return [
    {
      code: 'other',
      setting: 'model',
      message: `The registry (of ${date}) has no facts about ${id}: is its name right? It was asked all the same.`,
    },
  ];
}

function pricesIn({ models }: RegistryData, provider: string | undefined): PriceTable {
  const wanted = provider === undefined || Object.hasOwn(models, provider) ? provider : vendorOf(provider);
  const prices = new Map<string, Price>();
  const disputed = new Set<string>();
  for (const [seller, sold] of Object.entries(models)) {
    if (wanted !== undefined && seller !== wanted) continue;
    for (const [name, { price, snapshots = [] }] of Object.entries(sold)) {
      for (const each of [name, ...snapshots]) {
        const other = prices.get(each);
        if (price && other && JSON.stringify(other) !== JSON.stringify(price)) disputed.add(each);
        if (price) prices.set(each, price);
      }
    }
  }
  for (const name of disputed) prices.delete(name);
  return Object.fromEntries(prices);
}
