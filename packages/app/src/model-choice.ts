import { fileURLToPath } from 'node:url';
import { type ChatAdapter, createEngine, type Engine } from '@antiphon/engine';
import { openaiChat } from '@antiphon/providers';
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

/** Hosted services of the OpenAI dialect: the variable that holds the key, where they are, and the model that is taken when none is named. */
export const HOSTED = [
  { keyName: 'OPENAI_API_KEY', name: 'openai', baseUrl: 'https://api.openai.com/v1', model: 'gpt-5-mini' },
  { keyName: 'ANTHROPIC_API_KEY', name: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', model: 'claude-haiku-4-5' },
  {
    keyName: 'GEMINI_API_KEY',
    name: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    model: 'gemini-2.5-flash',
  },
  { keyName: 'MISTRAL_API_KEY', name: 'mistral', baseUrl: 'https://api.mistral.ai/v1', model: 'mistral-small-latest' },
  { keyName: 'GROQ_API_KEY', name: 'groq', baseUrl: 'https://api.groq.com/openai/v1', model: 'llama-3.3-70b-versatile' },
  { keyName: 'DEEPSEEK_API_KEY', name: 'deepseek', baseUrl: 'https://api.deepseek.com/v1', model: 'deepseek-chat' },
  { keyName: 'XAI_API_KEY', name: 'xai', baseUrl: 'https://api.x.ai/v1', model: 'grok-4-fast' },
  { keyName: 'OPENROUTER_API_KEY', name: 'openrouter', baseUrl: 'https://openrouter.ai/api/v1', model: 'openrouter/auto' },
] as const;

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
    return withModel({ model, baseUrl: config.baseUrl, apiKey: config.apiKey }, 'the configuration names its server');
  }
  const hosted = HOSTED.find(service => env[service.keyName]);
  if (hosted) {
    const { keyName, baseUrl, model } = hosted;
    return withModel({ model: config.model ?? model, baseUrl, apiKey: config.apiKey ?? env[keyName] }, `${keyName} is set`);
  }
  const local = await findLocalServer();
  if (local) {
    const model = config.model ?? local.models[0];
    if (model !== undefined)
      return withModel({ model, baseUrl: local.baseUrl, apiKey: config.apiKey }, `${local.name} answers on this machine`);
  }
  // Who names a model wants that model: no answer is better than one by somebody else.
  if (config.model !== undefined) {
    return withModel({ model: config.model, baseUrl: LOCAL[0].baseUrl, apiKey: config.apiKey }, 'the configuration names the model');
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

function withModel(
  server: { readonly model: string; readonly baseUrl: string; readonly apiKey: string | undefined },
  why: string,
): ModelChoice {
  const { model, baseUrl, apiKey } = server;
  const chat: ChatAdapter = openaiChat({ model, baseURL: baseUrl, ...(apiKey === undefined ? {} : { apiKey }) });
  return { engine: createEngine({ chat, tools: demoTools() }), name: `${chat.provider}/${model}`, why, demo: false };
}

async function demo(config: Config, why: string): Promise<ModelChoice> {
  const chat = demoResponder(await indexDocuments(config.documents ?? GUIDE));
  return { engine: createEngine({ chat, tools: demoTools() }), name: 'demo responder', why, demo: true };
}

/** The conversation's first message. */
export function systemPrompt(config: Config): string {
  return config.system ?? SYSTEM;
}
