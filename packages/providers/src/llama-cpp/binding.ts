// The part of node-llama-cpp (3.21) that is used here, spelled out: the package is an optional peer, so nothing may need its types.

/** The name in errors and provider options. */
export const PROVIDER = 'llama-cpp';

/** One token of a model's vocabulary. */
export type Token = number;

/** Text with special tokens in it; only tokenized here. */
interface LlamaText {
  tokenize(tokenizer: unknown): Token[];
}

/** The schema language of its grammars: a part of JSON Schema in which every property is required. */
export type GrammarSchema =
  | { readonly type: string | readonly string[]; readonly description?: string; readonly minLength?: number; readonly maxLength?: number }
  | { readonly const: string | number | boolean | null; readonly description?: string }
  | { readonly enum: readonly (string | number | boolean | null)[]; readonly description?: string }
  | { readonly oneOf: readonly GrammarSchema[]; readonly description?: string; readonly $defs?: GrammarDefs }
  | { readonly $ref: string; readonly description?: string; readonly $defs?: GrammarDefs }
  | ObjectSchema
  | ArraySchema;
export type GrammarDefs = { readonly [name: string]: GrammarSchema };
interface ObjectSchema {
  readonly type: 'object';
  readonly properties?: { readonly [name: string]: GrammarSchema };
  readonly additionalProperties?: boolean | GrammarSchema;
  readonly description?: string;
  readonly $defs?: GrammarDefs;
}
interface ArraySchema {
  readonly type: 'array';
  readonly items?: GrammarSchema;
  readonly prefixItems?: readonly GrammarSchema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly description?: string;
  readonly $defs?: GrammarDefs;
}

interface FunctionCallItem {
  readonly type: 'functionCall';
  readonly name: string;
  readonly params: unknown;
  readonly result: unknown;
  readonly startsNewChunk?: boolean;
}
interface SegmentItem {
  readonly type: 'segment';
  readonly segmentType: 'thought' | 'comment';
  readonly text: string;
  readonly ended: boolean;
}
export type ResponseItem = string | FunctionCallItem | SegmentItem;
export type HistoryItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: readonly ResponseItem[] };

export type ModelFunctions = { readonly [name: string]: { readonly description?: string; readonly params?: GrammarSchema } };

/** How a model's chat is written out; each family of models has its own. */
export interface ChatWrapper {
  generateContextState(options: {
    readonly chatHistory: readonly HistoryItem[];
    readonly availableFunctions?: ModelFunctions;
  }): ContextState;
}
interface ContextState {
  readonly contextText: LlamaText;
  readonly functionCall?: { readonly initiallyEngaged: boolean; readonly disengageInitiallyEngaged: readonly LlamaText[] };
  readonly prefixTriggers?: unknown;
  readonly noPrefixTrigger?: unknown;
  readonly rerender?: unknown;
}

export interface Sequence {
  readonly contextSize: number;
  readonly tokenMeter: { getState(): TokenCount; diff(since: TokenCount): TokenCount };
  compareContextTokens(tokens: readonly Token[]): { readonly firstDifferentIndex: number };
  adaptStateToTokens(tokens: readonly Token[]): Promise<void>;
  /** Reads the tokens and writes others, one each time it is asked; it may be told what to go on with instead. */
  evaluate(tokens: Token[], options?: object): AsyncGenerator<Token, void, Token | Token[] | undefined>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly Token[]): Promise<void>;
  clearHistory(): Promise<void>;
}
interface TokenCount {
  readonly usedInputTokens: number;
  readonly usedOutputTokens: number;
}

export interface GenerateOptions {
  readonly signal: AbortSignal;
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  readonly seed?: number;
  readonly customStopTriggers?: readonly string[];
  readonly grammar?: object;
  readonly functions?: ModelFunctions;
  readonly maxParallelFunctionCalls?: number;
  readonly repeatPenalty?: false;
  readonly trimWhitespaceSuffix?: boolean;
  readonly contextShift: { readonly strategy: () => { readonly chatHistory: readonly HistoryItem[]; readonly metadata: null } };
  readonly onResponseChunk: (chunk: { readonly type?: 'segment'; readonly segmentType?: string; readonly text: string }) => void;
  readonly onFunctionCallParamsChunk?: (chunk: {
    readonly callIndex: number;
    readonly functionName: string;
    readonly paramsChunk: string;
  }) => void;
}
export interface GeneratedResponse {
  readonly functionCalls?: readonly { readonly functionName: string; readonly params: unknown }[];
  readonly metadata: { readonly stopReason: string };
}
export interface Chat {
  readonly chatWrapper: ChatWrapper;
  generateResponse(history: readonly HistoryItem[], options: GenerateOptions): Promise<GeneratedResponse>;
  dispose(options?: { readonly disposeSequence?: boolean }): void;
}

export interface Llama {
  loadModel(options: { readonly modelPath: string; readonly loadSignal?: AbortSignal }): Promise<Model>;
  createGrammarForJsonSchema(schema: GrammarSchema): Promise<object>;
  dispose(): Promise<void>;
}
export interface Model {
  readonly tokenizer: unknown;
  createContext(options: { readonly sequences: number; readonly contextSize?: number; readonly threads?: number }): Promise<Context>;
  dispose(): Promise<void>;
}
export interface Context {
  getSequence(): Sequence;
  dispose(): Promise<void>;
}

/** What `import('node-llama-cpp')` gives, as far as it is used. */
export interface LlamaCppModule {
  getLlama(options: {
    readonly gpu: GpuOption;
    readonly build: 'never';
    readonly progressLogs: false;
    readonly skipDownload: true;
    readonly logLevel: string;
    readonly logger: (level: string, message: string) => void;
  }): Promise<Llama>;
  readonly LlamaChat: new (options: { readonly contextSequence: Sequence; readonly chatWrapper?: ChatWrapper }) => Chat;
  readonly LlamaText: (values: readonly string[]) => LlamaText;
}

/** Where the model computes; `auto` takes the best that is there, `false` the processor. */
export type GpuOption = 'auto' | 'metal' | 'cuda' | 'vulkan' | false;
