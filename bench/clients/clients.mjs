// One row per client: how a user of it reads a streamed answer with full events, usage and tool support. Each takes a base URL and
// resolves to the text it got, so that a client that loses something is seen.
const MODEL = 'bench';
const KEY = 'none';

/** No client at all: fetch, lines, JSON. */
async function bare(baseURL) {
  const response = await fetch(`${baseURL}/chat/completions`, { method: 'POST', body: JSON.stringify({ model: MODEL, stream: true }) });
  const decoder = new TextDecoder();
  let text = '';
  let rest = '';
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
      text += JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '';
    }
  }
  return text;
}

async function antiphon() {
  const [{ createEngine }, { openaiChat }] = await Promise.all([import('@antiphon/engine'), import('@antiphon/providers')]);
  return async baseURL => {
    const stream = createEngine({ chat: openaiChat({ model: MODEL, baseURL }) }).stream('Hi');
    for await (const _ of stream);
    return (await stream.outcome).text;
  };
}

async function antiphonAdapter() {
  const [{ systemClock }, { openaiChat }] = await Promise.all([import('@antiphon/engine'), import('@antiphon/providers')]);
  return async baseURL => {
    let text = '';
    const context = { signal: new AbortController().signal, requestId: 'r', clock: systemClock };
    const events = openaiChat({ model: MODEL, baseURL }).stream({ messages: [{ role: 'user', content: 'Hi' }] }, context);
    for await (const event of events) if (event.type === 'text_delta') text += event.delta;
    return text;
  };
}

async function openaiRaw() {
  const { default: OpenAI } = await import('openai');
  return async baseURL => {
    const client = new OpenAI({ baseURL, apiKey: KEY });
    const stream = await client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }], stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    return text;
  };
}

async function aiSdk() {
  const [{ streamText }, { createOpenAICompatible }] = await Promise.all([import('ai'), import('@ai-sdk/openai-compatible')]);
  return async baseURL => {
    const provider = createOpenAICompatible({ name: 'bench', baseURL, apiKey: KEY });
    const result = streamText({ model: provider(MODEL), prompt: 'Hi' });
    for await (const _ of result.fullStream ?? result.stream);
    return result.text;
  };
}

async function langchain() {
  const { ChatOpenAI } = await import('@langchain/openai');
  return async baseURL => {
    const model = new ChatOpenAI({ model: MODEL, apiKey: KEY, configuration: { baseURL } });
    let text = '';
    for await (const chunk of await model.stream('Hi')) text += chunk.content;
    return text;
  };
}

async function piAi() {
  const { streamSimple } = await import('@mariozechner/pi-ai');
  return async baseURL => {
    const model = {
      ...{ id: MODEL, name: MODEL, api: 'openai-completions', provider: 'openai', baseUrl: baseURL, reasoning: false, input: ['text'] },
      ...{ cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 1e6, maxTokens: 1e5 },
    };
    const stream = streamSimple(model, { messages: [{ role: 'user', content: 'Hi', timestamp: 0 }] }, { apiKey: KEY });
    for await (const _ of stream);
    const message = await stream.result();
    return message.content.map(part => part.text ?? '').join('');
  };
}

/** Name → a function that loads the client and gives how it reads. */
export const CLIENTS = {
  'bare fetch loop': async () => bare,
  'antiphon engine + openaiChat': antiphon,
  'antiphon openaiChat alone': antiphonAdapter,
  'openai 7 raw iterator': openaiRaw,
  '@langchain/openai 1.6': langchain,
  'pi-ai 0.73': piAi,
  'AI SDK 7 streamText': aiSdk,
};
