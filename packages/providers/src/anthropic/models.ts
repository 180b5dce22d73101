/** What sets the models apart: data, not code. Sources: Anthropic's model overview and migration guides of 2024-03 to 2026-11. */
export interface ModelTraits {
  /** Sent as `max_tokens`, which the API demands, when nobody says otherwise: the model's own bound, or less where a long prompt would not fit beside it. */
  readonly maxTokens: number;
  /** How reasoning is asked for: a budget of tokens, or an effort that the model spends as it sees fit. */
  readonly thinking: 'none' | 'budget' | 'adaptive';
  /** What to send so that the model does not think; `always`: it cannot be told. */
  readonly thinkingOff: 'omit' | 'disabled' | 'between_tools' | 'always';
  /** Thinking comes without its text unless a summary is asked for. */
  readonly hidesThinking: boolean;
  /** Refuses its own earlier thinking once anything before it has changed, unless it is told to leave it out. */
  readonly bindsThinking: boolean;
  /** Takes temperature and top_p at all, and both at once. */
  readonly sampling: 'none' | 'one' | 'both';
  /** Can be made to call a tool. */
  readonly forcedTools: boolean;
  /** Goes on behind an answer that has begun already. */
  readonly prefill: boolean;
  /** Holds its answer to a schema (`output_config.format`). */
  readonly structuredOutput: boolean;
}

const CURRENT: ModelTraits = {
  maxTokens: 128_000,
  thinking: 'adaptive',
  thinkingOff: 'always',
  hidesThinking: true,
  bindsThinking: true,
  sampling: 'none',
  forcedTools: false,
  prefill: false,
  structuredOutput: true,
};
const WITH_BUDGET: ModelTraits = {
  maxTokens: 64_000,
  thinking: 'budget',
  thinkingOff: 'omit',
  hidesThinking: false,
  bindsThinking: false,
  sampling: 'one',
  forcedTools: true,
  prefill: true,
  structuredOutput: true,
};

/** The first row whose family and version fit counts; versions are from–to. A version that nobody knows yet is taken for a current one. */
const ROWS: readonly { readonly families: string; readonly from: number; readonly to: number; readonly traits: ModelTraits }[] = [
  { families: 'sonnet', from: 5.5, to: 5.9, traits: { ...CURRENT, thinkingOff: 'between_tools' } },
  { families: 'haiku', from: 5.5, to: 5.9, traits: { ...CURRENT, thinkingOff: 'disabled', forcedTools: true } },
  {
    families: 'opus sonnet haiku',
    from: 5,
    to: 5.4,
    traits: { ...CURRENT, thinkingOff: 'disabled', bindsThinking: false, forcedTools: true },
  },
  { families: 'fable mythos', from: 5, to: 5, traits: { ...CURRENT, bindsThinking: false, forcedTools: true } },
  { families: 'opus', from: 4.7, to: 4.9, traits: { ...CURRENT, thinkingOff: 'omit', bindsThinking: false, forcedTools: true } },
  {
    families: 'opus sonnet',
    from: 4.6,
    to: 4.6,
    traits: { ...CURRENT, thinkingOff: 'omit', hidesThinking: false, bindsThinking: false, sampling: 'one', forcedTools: true },
  },
  { families: 'opus sonnet haiku', from: 4.5, to: 4.5, traits: WITH_BUDGET },
  { families: 'opus', from: 4.1, to: 4.1, traits: { ...WITH_BUDGET, maxTokens: 32_000, structuredOutput: false } },
  {
    families: 'opus sonnet haiku',
    from: 4,
    to: 4.4,
    traits: { ...WITH_BUDGET, maxTokens: 32_000, sampling: 'both', structuredOutput: false },
  },
  { families: 'sonnet', from: 3.7, to: 3.7, traits: { ...WITH_BUDGET, maxTokens: 32_000, sampling: 'both', structuredOutput: false } },
  {
    families: 'opus sonnet haiku',
    from: 3.5,
    to: 3.9,
    traits: { ...WITH_BUDGET, maxTokens: 8_192, thinking: 'none', sampling: 'both', structuredOutput: false },
  },
  {
    families: 'opus sonnet haiku',
    from: 0,
    to: 3.4,
    traits: { ...WITH_BUDGET, maxTokens: 4_096, thinking: 'none', sampling: 'both', structuredOutput: false },
  },
];

/** Another vendor's model behind the same protocol: nothing is refused in advance. */
const FOREIGN: ModelTraits = { ...WITH_BUDGET, maxTokens: 8_192, sampling: 'both', structuredOutput: false };

/**
 * The traits of a model, from its name with or without date, vendor prefix or region.
 *
 * ```ts
 * traitsOf('us.anthropic.claude-sonnet-4-5-20250929-v1:0').thinking; // 'budget'
 * ```
 */
export function traitsOf(model: string): ModelTraits {
  const name = model.toLowerCase();
  const at = name.indexOf('claude-');
  if (at === -1) return FOREIGN;
  // `claude-sonnet-4-5-20250929` and `claude-3-5-sonnet-20241022`: a family, and a version of one or two short numbers, in either order.
  const words = name.slice(at).replaceAll('.', '-').split('-').slice(1, 4);
  const family = words.find(word => FAMILIES.has(word));
  const numbers = words.filter(word => word.length <= 2 && word !== '' && Number.isInteger(Number(word))).map(Number);
  const [major, minor = 0] = numbers;
  if (family === undefined || major === undefined) return CURRENT;
  const version = major + minor / 10;
  const row = ROWS.find(({ families, from, to }) => families.split(' ').includes(family) && version >= from && version <= to);
  return row?.traits ?? CURRENT;
}

const FAMILIES: ReadonlySet<string> = new Set(ROWS.flatMap(({ families }) => families.split(' ')));
