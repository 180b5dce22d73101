// How each client is loaded and pointed at a base URL; the readers of text and of growing JSON share it.
const MODEL = 'bench';
const KEY = 'none';
/** In the shape that most clients take. */
export const PROMPT = { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] };

export async function loadAntiphon() {
  const [engine, { openaiChat }] = await Promise.all([import('@antiphon/engine'), import('@antiphon/providers')]);
  return { ...engine, chatAt: baseURL => openaiChat({ model: MODEL, baseURL, profile: { structuredOutput: true } }) };
}

export async function loadOpenai() {
  const { default: OpenAI } = await import('openai');
  return baseURL => new OpenAI({ baseURL, apiKey: KEY }).chat.completions;
}

export async function loadAiSdk() {
  const [ai, { createOpenAICompatible }] = await Promise.all([import('ai'), import('@ai-sdk/openai-compatible')]);
  const options = { name: 'bench', apiKey: KEY, supportsStructuredOutputs: true };
  return { ...ai, modelAt: baseURL => createOpenAICompatible({ ...options, baseURL })(MODEL) };
}

export async function loadLangchain() {
  const { ChatOpenAI } = await import('@langchain/openai');
  return baseURL => new ChatOpenAI({ model: MODEL, apiKey: KEY, configuration: { baseURL } });
}

export async function loadPi() {
  const { streamSimple } = await import('@mariozechner/pi-ai');
  return (baseURL, tools) => {
    const model = {
      ...{ id: MODEL, name: MODEL, api: 'openai-completions', provider: 'openai', baseUrl: baseURL, reasoning: false, input: ['text'] },
      ...{ cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 1e6, maxTokens: 1e5 },
    };
    return streamSimple(model, { messages: [{ role: 'user', content: 'Hi', timestamp: 0 }], tools }, { apiKey: KEY });
  };
}
