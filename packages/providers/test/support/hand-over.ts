// The providers that a thread can go on with, and what each would send of it.
import { type ChatAdapter, type Message, systemClock, type ToolCallPart, type Warning } from '@antiphon/engine';
import { anthropic, gemini, openaiChat, openaiResponses } from '@antiphon/providers';
import { buildLocalRequest } from '../../src/llama-cpp/request.js';

interface Sent {
  readonly body: string;
  readonly warnings: readonly Warning[];
}
type Target = (messages: readonly Message[]) => Promise<Sent>;

export const through =
  (adapter: ChatAdapter): Target =>
  async messages => {
    const { body, warnings } = await adapter.prepare!({ messages }, { signal: AbortSignal.any([]), requestId: 'x', clock: systemClock });
    return { body: String(body), warnings };
  };
const chat = (baseURL: string) => through(openaiChat({ model: 'm', baseURL, apiKey: 'k' }));
const google = (model: string, api: 'generate-content' | 'interactions') => through(gemini({ model, api, apiKey: 'k' }));

export const TARGETS = {
  'openai chat': chat('https://api.openai.com/v1'),
  mistral: chat('https://api.mistral.ai/v1'),
  deepseek: chat('https://api.deepseek.com'),
  responses: through(openaiResponses({ model: 'm', apiKey: 'k' })),
  anthropic: through(anthropic({ model: 'm', apiKey: 'k' })),
  gemini: google('gemini-2.5-flash', 'generate-content'),
  'gemini 3': google('gemini-3-flash-preview', 'generate-content'),
  interactions: google('gemini-2.5-flash', 'interactions'),
  'interactions 3': google('gemini-3-flash-preview', 'interactions'),
  llamaCpp: async messages => {
    const { history, warnings } = buildLocalRequest({ messages });
    return { body: JSON.stringify(history), warnings };
  },
} satisfies { [name: string]: Target };
export type TargetName = keyof typeof TARGETS;
export const NAMES = Object.keys(TARGETS) as TargetName[];

export const call = (id: string, providerState?: ToolCallPart['providerState']): ToolCallPart => ({
  type: 'tool_call',
  id,
  name: 'look',
  arguments: { n: 1 },
  rawArguments: '{"n": 1}',
  ...(providerState ? { providerState } : {}),
});
