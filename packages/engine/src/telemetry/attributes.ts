// Names of OpenTelemetry's semantic conventions for generative AI, from our data: https://github.com/open-telemetry/semantic-conventions-genai
import type { ChatRequest } from '../adapters/chat.js';
import type { Cost } from '../data/cost.js';
import { defined } from '../data/defined.js';
import type { Message } from '../data/messages.js';
import type { AssistantPart, ToolResultPart, UserPart } from '../data/parts.js';
import type { Usage } from '../data/usage.js';

/** The value of an attribute, as OpenTelemetry's API takes it. */
export type AttributeValue = string | number | boolean | string[];
export type Attributes = Record<string, AttributeValue>;

/** Where the conventions use another word for a provider than we do. */
const PROVIDERS: { readonly [provider: string]: string } = {
  gemini: 'gcp.gemini',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  moonshot: 'moonshot_ai',
};

export function providerName(provider: string): string {
  return Object.hasOwn(PROVIDERS, provider) ? (PROVIDERS[provider] ?? provider) : provider;
}

export function requestAttributes(request: ChatRequest): Attributes {
  return defined({
    'gen_ai.request.stream': true,
    'gen_ai.request.temperature': request.temperature,
    'gen_ai.request.top_p': request.topP,
    'gen_ai.request.max_tokens': request.maxTokens,
    'gen_ai.request.seed': request.seed,
    'gen_ai.request.stop_sequences': request.stop && [...request.stop],
    'gen_ai.output.type': request.output === undefined ? undefined : 'json',
  });
}

export function usageAttributes(usage: Usage, cost: Cost | undefined): Attributes {
  return defined({
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    // Renamed in the conventions of 2026; most backends still read the older name.
    'gen_ai.usage.cache_write.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
    // The conventions have no word for money; this one is read by several backends. US dollars.
    'gen_ai.usage.cost': cost?.total,
  });
}

/** Messages in the conventions' JSON shape: `[{ role, parts: [{ type, content }] }]`. Bytes are left out. */
export function messagesJson(messages: readonly Message[]): string {
  return JSON.stringify(messages.map(message => ({ role: message.role, parts: partsOf(message) })));
}

function partsOf(message: Message): object[] {
  if (message.role === 'tool')
    return [
      {
        type: 'tool_call_response',
        id: message.callId,
        response: typeof message.content === 'string' ? message.content : message.content.map(partJson),
      },
    ];
  return typeof message.content === 'string' ? [{ type: 'text', content: message.content }] : message.content.map(partJson);
}

function partJson(part: UserPart | AssistantPart | ToolResultPart): object {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text };
    case 'tool_call':
      return { type: 'tool_call', id: part.id, name: part.name, arguments: part.arguments };
    case 'json':
      return { type: 'json', content: part.value };
    case 'source':
      return { type: 'source', ...(part.url === undefined ? {} : { uri: part.url }) };
    default:
      return { type: 'blob', modality: part.type, mime_type: part.mediaType };
  }
}
