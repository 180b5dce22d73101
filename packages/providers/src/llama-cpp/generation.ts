import { AdapterError, AntiphonError, type BlockWriter, describe, type FinishReason, type Usage } from '@antiphon/engine';
import {
  type Chat,
  type ChatWrapper,
  type GeneratedResponse,
  type GenerateOptions,
  PROVIDER,
  type Sequence,
  type Token,
} from './binding.js';
import { paced } from './paced.js';
import type { LocalRequest } from './request.js';
import type { Loaded } from './runtime.js';
import type { Desk } from './work.js';

/** Tokens of the prompt that are read at once: an abort waits for so many at the most. */
const PROMPT_STEP = 128;

const FINISH: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['eogToken', 'stop'],
  ['stopGenerationTrigger', 'stop'],
  ['customStopTrigger', 'stop'],
  ['functionCalls', 'tool_calls'],
  ['maxTokens', 'length'],
]);

export interface GenerationOptions extends Desk {
  readonly request: LocalRequest;
  readonly loaded: Loaded;
  readonly sequence: Sequence;
  readonly signal: AbortSignal;
}

/**
 * Writes one answer into `blocks`. Reads the prompt in steps, so that an abort ends it soon; what the sequence holds already is not read
 * again. The context is never shifted: an answer that fills it ends with `length`, and a prompt that does not fit is refused.
 */
export async function generateAnswer(options: GenerationOptions): Promise<void> {
  const { LlamaChat } = options.loaded.module;
  const chatWrapper = options.request.forceCall ? callingFirst(options.loaded) : options.loaded.wrapper;
  const chat = new LlamaChat({ contextSequence: paced(options.sequence, options.room), chatWrapper });
  try {
    await writeAnswer(chat, options);
  } catch (thrown) {
    const { signal, sequence } = options;
    // What was half read must not be taken for the beginning of the next conversation.
    if (!signal.aborted) await sequence.clearHistory().catch(() => {});
    throw signal.aborted ? signal.reason : asFailure(thrown);
  } finally {
    chat.dispose({ disposeSequence: false });
  }
}

async function writeAnswer(chat: Chat, options: GenerationOptions): Promise<void> {
  const { request, loaded, sequence, signal, blocks, progress } = options;
  const grammar = await grammarFor(request, loaded);
  const { functions, history } = request;
  const about = { chatHistory: history, ...(functions === undefined ? {} : { availableFunctions: functions }) };
  const prompt = chat.chatWrapper.generateContextState(about).contextText.tokenize(loaded.model.tokenizer);
  const left = sequence.contextSize - prompt.length - 1;
  if (left < 1) throw tooLong(prompt.length, sequence.contextSize);
  const before = sequence.tokenMeter.getState();
  const calls = new Set<number>();
  // The marks of a call are not counted as tokens of the answer, and may fill the context before `maxTokens` does.
  const full = new AbortController();
  const settings: GenerateOptions = {
    signal: AbortSignal.any([signal, full.signal]),
    maxTokens: Math.min(request.maxTokens ?? left, left),
    ...request.sampling,
    ...(grammar === undefined ? {} : { grammar }),
    contextShift: {
      // If it threw, the library would shift by its own rule; given a history that fits, it goes on to find the signal aborted.
      strategy: () => {
        full.abort();
        return { chatHistory: [{ type: 'model', response: [] }], metadata: null };
      },
    },
    onResponseChunk: ({ type, segmentType, text }) => {
      if (type === 'segment') blocks.reasoning(segmentType === 'thought' || segmentType === 'comment' ? text : '');
      else blocks.text(text);
      progress(true);
    },
    ...(functions === undefined
      ? {}
      : {
          functions,
          onFunctionCallParamsChunk: ({ callIndex, functionName, paramsChunk }) => {
            calls.add(callIndex);
            blocks.toolCall(callIndex, { name: functionName, args: paramsChunk });
            progress(true);
          },
        }),
  };
  const cached = await readPrompt(sequence, prompt, signal, () => progress(false));
  const usage = () => usageOf(sequence.tokenMeter.diff(before).usedOutputTokens, prompt.length, cached);
  let answer: GeneratedResponse;
  try {
    answer = await chat.generateResponse(history, settings);
  } catch (thrown) {
    if (!full.signal.aborted || signal.aborted) throw thrown;
    if (!blocks.hasContent) throw tooLong(prompt.length, sequence.contextSize);
    return blocks.end({ finishReason: 'length', rawFinishReason: 'contextFull', usage: usage() });
  }
  writeWholeCalls(answer, calls, blocks);
  const { stopReason } = answer.metadata;
  const finishReason = blocks.hasCalls && stopReason !== 'maxTokens' ? 'tool_calls' : (FINISH.get(stopReason) ?? 'other');
  blocks.end({ finishReason, rawFinishReason: stopReason, usage: usage() });
}

async function grammarFor({ grammar }: LocalRequest, { llama }: Loaded): Promise<object | undefined> {
  if (grammar === undefined) return undefined;
  try {
    return await llama.createGrammarForJsonSchema(grammar);
  } catch (cause) {
    throw new AdapterError('invalid_request', `llamaCpp cannot make a grammar of the output's schema: ${describe(cause)}`, {
      provider: PROVIDER,
      cause,
    });
  }
}

/** The model's own way of writing a chat, but its answer begins with a call: what the wrapper would look for first is left out. */
function callingFirst({ wrapper, module }: Loaded): ChatWrapper {
  const forced: ChatWrapper = Object.create(wrapper) as ChatWrapper;
  forced.generateContextState = options => {
    const { prefixTriggers: _a, noPrefixTrigger: _b, functionCall, ...state } = wrapper.generateContextState(options);
    // Some wrappers begin with calls anyway, and then must only be kept from leaving them.
    if (functionCall?.initiallyEngaged) return { ...state, functionCall: { initiallyEngaged: true, disengageInitiallyEngaged: [] } };
    return { ...state, noPrefixTrigger: { type: 'functionCall', inject: module.LlamaText([]) } };
  };
  return forced;
}

/** Reads what the sequence does not hold yet, and tells how many tokens it held. */
async function readPrompt(sequence: Sequence, prompt: readonly Token[], signal: AbortSignal, step: () => void): Promise<number> {
  // The last token is left to the generation, which begins with it.
  const end = Math.max(prompt.length - 1, 0);
  const known = Math.min(sequence.compareContextTokens(prompt).firstDifferentIndex, end);
  await sequence.adaptStateToTokens(prompt.slice(0, known));
  for (let from = known; from < end; from += PROMPT_STEP) {
    signal.throwIfAborted();
    await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(from, Math.min(from + PROMPT_STEP, end)));
    step();
  }
  return known;
}

/** Calls without arguments come without pieces. */
function writeWholeCalls({ functionCalls = [] }: GeneratedResponse, seen: ReadonlySet<number>, blocks: BlockWriter): void {
  for (const [index, { functionName, params }] of functionCalls.entries()) {
    if (!seen.has(index)) blocks.toolCall(index, { name: functionName, args: JSON.stringify(params ?? {}) });
    blocks.endToolCall(index);
  }
}

function usageOf(outputTokens: number, inputTokens: number, cachedInputTokens: number): Usage {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cachedInputTokens };
}

function tooLong(tokens: number, contextSize: number): AdapterError {
  return new AdapterError(
    'context_length_exceeded',
    `The conversation has ${tokens} tokens, which leaves no room for an answer in a context of ${contextSize}: shorten it, or set a larger contextSize.`,
    { provider: PROVIDER },
  );
}

function asFailure(thrown: unknown): unknown {
  if (AntiphonError.isInstance(thrown)) return thrown;
  return new AdapterError('unknown', `node-llama-cpp failed: ${describe(thrown)}`, { provider: PROVIDER, cause: thrown });
}
