// A stand-in for node-llama-cpp, for what a tiny random model does not do by itself.

export interface Hooks {
  readonly signal: AbortSignal;
  onResponseChunk(chunk: object): void;
  onFunctionCallParamsChunk(chunk: object): void;
}

export interface StandIn {
  /** One answer. `tokens` are those of its sequence, which are asked for one by one, as the library does. */
  answer(hooks: Hooks, tokens: AsyncIterable<number>): object | Promise<object>;
  /** The words with which the model's template refuses a conversation. */
  readonly refuses?: string;
  /** Tokens of each prompt and answer. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** A module whose chats answer so; it notes the histories that they were given, and how many tokens were asked for. */
export function llamaLibrary({ answer, inputTokens = 3, outputTokens = 2, refuses }: StandIn) {
  const seen = { histories: [] as unknown[], tokens: 0, open: 0 };
  const sequence = {
    contextSize: 100,
    tokenMeter: { getState: () => ({}), diff: () => ({ usedInputTokens: inputTokens, usedOutputTokens: outputTokens }) },
    compareContextTokens: () => ({ firstDifferentIndex: 1 }),
    adaptStateToTokens: async () => {},
    evaluateWithoutGeneratingNewTokens: async () => {},
    clearHistory: async () => {},
    async *evaluate() {
      for (;;) yield seen.tokens++;
    },
  };
  class LlamaChat {
    readonly chatWrapper = {
      generateContextState() {
        if (refuses !== undefined) throw new Error(refuses);
        return { contextText: { tokenize: () => Array(inputTokens).fill(1) } };
      },
    };
    readonly #sequence: typeof sequence;
    constructor({ contextSequence }: { contextSequence: typeof sequence }) {
      this.#sequence = contextSequence;
    }
    async generateResponse(history: unknown, hooks: Hooks) {
      seen.histories.push(history);
      seen.open++;
      try {
        return await answer(hooks, this.#sequence.evaluate());
      } finally {
        seen.open--;
      }
    }
    dispose() {}
  }
  const free = async () => {};
  const model = { tokenizer: {}, dispose: free, createContext: async () => ({ getSequence: () => sequence, dispose: free }) };
  const getLlama = async () => ({ loadModel: async () => model, createGrammarForJsonSchema: async () => ({}), dispose: free });
  return { seen, load: async () => ({ getLlama, LlamaChat, LlamaText: (text: unknown) => text }) };
}
