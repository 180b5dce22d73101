// Each known server of the chat dialect is asked in its own words: where, with which key, and how the few things are said that servers say apart.
import { createEngine, system, user } from '@antiphon/engine';
import { openaiChat } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { PROFILES } from '../src/openai-chat/profiles.js';

interface Words {
  /** The field for the longest answer. */
  readonly tokens: 'max_tokens' | 'max_completion_tokens';
  /** The server has to be asked for its usage. */
  readonly asksUsage: boolean;
  /** How little reasoning is asked for. */
  readonly effort: object;
}

const LOW = { reasoning_effort: 'low' };
const ON = { thinking: { type: 'enabled' } };
const words = (tokens: Words['tokens'], effort: object = LOW, asksUsage = true): Words => ({ tokens, asksUsage, effort });

/** By the name of the server: the base URL that one would write, the address that it becomes, and the words. */
const SERVERS: { readonly [name: string]: readonly [baseURL: string, address: string, Words] } = {
  'openai-compatible': ['https://models.example.org', 'https://models.example.org/v1', words('max_tokens')],
  openai: ['https://api.openai.com/v1', 'https://api.openai.com/v1', words('max_completion_tokens')],
  azure: ['https://mine.openai.azure.com', 'https://mine.openai.azure.com/openai/v1', words('max_completion_tokens')],
  ollama: ['http://localhost:11434', 'http://localhost:11434/v1', words('max_tokens')],
  'llama.cpp': ['http://localhost:8080', 'http://localhost:8080/v1', words('max_tokens')],
  lmstudio: ['http://localhost:1234/v1', 'http://localhost:1234/v1', words('max_tokens')],
  sglang: ['http://localhost:30000', 'http://localhost:30000/v1', words('max_tokens')],
  vllm: ['http://localhost:8000/v1/', 'http://localhost:8000/v1', words('max_tokens')],
  deepseek: ['https://api.deepseek.com', 'https://api.deepseek.com/v1', words('max_tokens', ON)],
  groq: ['https://api.groq.com/openai/v1', 'https://api.groq.com/openai/v1', words('max_completion_tokens')],
  mistral: ['https://api.mistral.ai/v1', 'https://api.mistral.ai/v1', words('max_tokens', { reasoning_effort: 'high' }, false)],
  xai: ['https://api.x.ai/v1', 'https://api.x.ai/v1', words('max_tokens')],
  openrouter: ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1', words('max_tokens', { reasoning: { effort: 'low' } })],
  together: ['https://api.together.xyz/v1', 'https://api.together.xyz/v1', words('max_tokens')],
  fireworks: ['https://api.fireworks.ai/inference/v1', 'https://api.fireworks.ai/inference/v1', words('max_tokens')],
  cerebras: ['https://api.cerebras.ai', 'https://api.cerebras.ai/v1', words('max_completion_tokens')],
  moonshot: ['https://api.moonshot.ai/v1', 'https://api.moonshot.ai/v1', words('max_tokens', ON)],
  alibaba: [
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    words('max_tokens', { enable_thinking: true }),
  ],
  perplexity: ['https://api.perplexity.ai', 'https://api.perplexity.ai', words('max_tokens', LOW, false)],
  zai: ['https://api.z.ai/api/paas/v4', 'https://api.z.ai/api/paas/v4', words('max_tokens', ON)],
  google: [
    'https://generativelanguage.googleapis.com/v1beta/openai/',
    'https://generativelanguage.googleapis.com/v1beta/openai',
    words('max_tokens'),
  ],
  deepinfra: ['https://api.deepinfra.com/v1/openai', 'https://api.deepinfra.com/v1/openai', words('max_tokens')],
  sambanova: ['https://api.sambanova.ai/v1', 'https://api.sambanova.ai/v1', words('max_tokens')],
  nvidia: ['https://integrate.api.nvidia.com/v1', 'https://integrate.api.nvidia.com/v1', words('max_tokens')],
  huggingface: ['https://router.huggingface.co/v1', 'https://router.huggingface.co/v1', words('max_tokens')],
  'github-copilot': ['https://api.githubcopilot.com', 'https://api.githubcopilot.com', words('max_tokens')],
  github: ['https://models.github.ai/inference', 'https://models.github.ai/inference', words('max_tokens')],
};

describe.each(Object.entries(SERVERS))('%s', (name, [baseURL, address, { tokens, asksUsage, effort }]) => {
  test('is known by its address and asked in its words', async () => {
    const chat = openaiChat({ model: 'm', baseURL, apiKey: 'secret' });
    expect(chat.provider).toBe(name);
    const engine = createEngine({ chat });
    const { url, body } = await engine.prepareRequest([system('Be brief.'), user('Hi')], { maxTokens: 9, reasoning: 'low' });
    expect(url).toBe(`${address}/chat/completions`);
    const sent = JSON.parse(body);
    expect(sent).toMatchObject({ model: 'm', stream: true, [tokens]: 9, ...effort, messages: [{ role: 'system' }, { role: 'user' }] });
    expect(sent.stream_options).toEqual(asksUsage ? { include_usage: true } : undefined);
    const others = ['max_tokens', 'max_completion_tokens', 'reasoning_effort', 'reasoning', 'thinking', 'enable_thinking'];
    expect(
      Object.keys(sent)
        .filter(field => others.includes(field))
        .sort(),
    ).toEqual([tokens, ...Object.keys(effort)].sort());
  });
});

test('no server is left out', () => {
  expect(PROFILES.map(({ name }) => name).sort()).toEqual(Object.keys(SERVERS).sort());
});
