import type { Price } from '@antiphon/engine';

/** What a model can do: call tools, see pictures, hear sound, hold its answer to a schema, think before it answers. */
export type ModelCapability = 'tools' | 'vision' | 'audio' | 'structured' | 'reasoning';

/** What is known of one model. What is missing is not known. */
export interface ModelFacts {
  readonly can: readonly ModelCapability[];
  /** Tokens of prompt and answer together. */
  readonly context?: number;
  /** Tokens of an answer. */
  readonly output?: number;
  /** US dollars per million tokens. Left out where it depends on the length of the prompt. */
  readonly price?: Price;
  /** Instructions that the model does better with. Nobody sends them but the caller: `system(registry.info(id).prompt)`. */
  readonly prompt?: string;
  /** Names of fixed versions that have the same facts. */
  readonly snapshots?: readonly string[];
  /** The vendor has announced its end; `replacement` is a full id. */
  readonly deprecated?: { readonly note: string; readonly replacement?: string };
}

/** A registry as plain JSON. */
export interface RegistryData {
  /** When the facts were gathered, such as `2025-11`. */
  readonly date: string;
  /** By provider, then by the provider's own name of the model. */
  readonly models: { readonly [provider: string]: { readonly [model: string]: ModelFacts } };
  /** Short names for full ids: `{ sonnet: 'anthropic/claude-sonnet-4-5' }`. */
  readonly aliases?: { readonly [alias: string]: string };
}

/** A model as the registry knows it. */
export interface ModelInfo extends Partial<ModelFacts> {
  /** `provider/model` */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  /** False: the registry has no facts about it. */
  readonly known: boolean;
}
