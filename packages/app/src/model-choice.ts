import { fileURLToPath } from 'node:url';
import { type ChatAdapter, createEngine, type Engine } from '@antiphon/engine';
import { anthropic, gemini, openaiChat } from '@antiphon/providers';
import type { Config } from './config.js';
import { indexDocuments } from './demo/documents.js';
import { demoResponder } from './demo/responder.js';
import { demoTools } from './demo/tools.js';

/** Who answers, and why that one. */
export interface ModelChoice {
  readonly engine: Engine;
  /** Provider and model, as shown to people. */
  readonly name: string;
  readonly why: string;
  /** Answers come from the demo responder, which is no language model. */
  readonly demo: boolean;
}

type Make = (model: string, apiKey: string | undefined) => ChatAdapter;

const own = (apiKey: string | undefined) => (apiKey === undefined ? {} : { apiKey });
const dialect =
  (baseURL: string): Make =>
  (model, apiKey) =>
    openaiChat({ model, baseURL, ...own(apiKey) });

/** Hosted services: the variable that holds the key, the model that is taken when none is named, and how it is spoken to. */
export const HOSTED: readonly { readonly keyName: string; readonly model: string; readonly make: Make }[] = [
  { keyName: 'OPENAI_API_KEY', model: 'gpt-5-mini', make: dialect('https://api.openai.com/v1') },
  { keyName: 'ANTHROPIC_API_KEY', model: 'claude-haiku-4-5', make: (model, apiKey) => anthropic({ model, ...own(apiKey) }) },
  { keyName: 'GEMINI_API_KEY', model: 'gemini-2.5-flash', make: (model, apiKey) => gemini({ model, ...own(apiKey) }) },
  { keyName: 'MISTRAL_API_KEY', model: 'mistral-small-latest', make: dialect('https://api.mistral.ai/v1') },
  { keyName: 'GROQ_API_KEY', model: 'llama-3.3-70b-versatile', make: dialect('https://api.groq.com/openai/v1') },
  { keyName: 'DEEPSEEK_API_KEY', model: 'deepseek-chat', make: dialect('https://api.deepseek.com/v1') },
  { keyName: 'XAI_API_KEY', model: 'grok-4-fast', make: dialect('https://api.x.ai/v1') },
  { keyName: 'OPENROUTER_API_KEY', model: 'openrouter/auto', make: dialect('https://openrouter.ai/api/v1') },
];

/** Model servers of this machine, in the order in which they are asked. */
const LOCAL = [
  { name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  { name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
] as const;

/** The project's own guide: what the demo responder knows when no folder is named. */
export const GUIDE = fileURLToPath(new URL('../guide', import.meta.url));

const SYSTEM = 'You are a helpful voice assistant. Answer in one to three short spoken sentences, without markup.';
const PROBE_MS = 700;

/** What is configured; else a key in the environment; else a server of this machine that answers; else the demo responder. */
export async function chooseModel(config: Config, env: NodeJS.ProcessEnv = process.env): Promise<ModelChoice> {
  if (config.model === 'demo') return demo(config, 'the configuration asks for it');
  if (config.baseUrl !== undefined) {
    const model = config.model ?? (await listModels(config.baseUrl))?.[0] ?? 'default';
    return answering(dialect(config.baseUrl)(model, config.apiKey), 'the configuration names its server');
  }
  const hosted = HOSTED.find(service => env[service.keyName]);
  if (hosted) {
    const { keyName, model, make } = hosted;
    return answering(make(config.model ?? model, config.apiKey ?? env[keyName]), `${keyName} is set`);
  }
  const local = await findLocalServer();
  if (local) {
    const model = config.model ?? local.models[0];
    if (model !== undefined) return answering(dialect(local.baseUrl)(model, config.apiKey), `${local.name} answers on this machine`);
  }
  // Who names a model wants that model: no answer is better than one by somebody else.
  if (config.model !== undefined) {
    return answering(dialect(LOCAL[0].baseUrl)(config.model, config.apiKey), 'the configuration names the model');
  }
  return demo(config, 'no key is set and no model server answers on this machine');
}

/** The first server of this machine that answers, and its chat models. */
export async function findLocalServer(): Promise<
  { readonly name: string; readonly baseUrl: string; readonly models: readonly string[] } | undefined
> {
  const answers = await Promise.all(LOCAL.map(async server => ({ ...server, models: await listModels(server.baseUrl) })));
  const found = answers.find(({ models }) => models !== undefined && models.length > 0);
  return found && { ...found, models: found.models ?? [] };
}

/** Names of the models that a server offers, those for embeddings left out; undefined when it does not answer as a model server. */
async function listModels(baseUrl: string): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/models`, { signal: AbortSignal.timeout(PROBE_MS), redirect: 'error' });
    const body = (await response.json()) as { data?: { id?: unknown }[] };
    if (!response.ok || !Array.isArray(body.data)) return undefined;
    return body.data.map(({ id }) => id).filter((id): id is string => typeof id === 'string' && !/embed|rerank|whisper/i.test(id));
  } catch {
    return undefined;
  }
}

function answering(chat: ChatAdapter, why: string): ModelChoice {
  return { engine: createEngine({ chat, tools: demoTools() }), name: `${chat.provider}/${chat.model}`, why, demo: false };
}

async function demo(config: Config, why: string): Promise<ModelChoice> {
  const chat = demoResponder(await indexDocuments(config.documents ?? GUIDE));
  return { engine: createEngine({ chat, tools: demoTools() }), name: 'demo responder', why, demo: true };
}

/** The conversation's first message. */
export function systemPrompt(config: Config): string {
  return config.system ?? SYSTEM;
}
