// One row per client: how a user of it reads a streamed answer with full events, usage and tool support. Each takes a base URL and a
// function that is told each piece of text as it comes, so that a client that loses something or is late is seen.
import { loadAiSdk, loadAntiphon, loadLangchain, loadOpenai, loadPi, PROMPT } from './connect.mjs';

/** No client at all: fetch, lines, JSON. */
async function bare(baseURL, told) {
  const response = await fetch(`${baseURL}/chat/completions`, { method: 'POST', body: JSON.stringify({ ...PROMPT, stream: true }) });
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
      told(JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '');
    }
  }
}

async function antiphon() {
  const { createEngine, chatAt } = await loadAntiphon();
  return async (baseURL, told) => {
    const stream = createEngine({ chat: chatAt(baseURL) }).stream('Hi');
    for await (const event of stream) if (event.type === 'text_delta') told(event.delta);
    return stream.outcome;
  };
}

async function antiphonAdapter() {
  const { systemClock, chatAt } = await loadAntiphon();
  return async (baseURL, told) => {
    const context = { signal: new AbortController().signal, requestId: 'r', clock: systemClock };
    const events = chatAt(baseURL).stream({ messages: PROMPT.messages }, context);
    for await (const event of events) if (event.type === 'text_delta') told(event.delta);
  };
}

async function openaiRaw() {
  const completionsAt = await loadOpenai();
  return async (baseURL, told) => {
    const stream = await completionsAt(baseURL).create({ ...PROMPT, stream: true });
    for await (const chunk of stream) told(chunk.choices[0]?.delta.content ?? '');
  };
}

async function langchain() {
  const modelAt = await loadLangchain();
  return async (baseURL, told) => {
    for await (const chunk of await modelAt(baseURL).stream('Hi')) told(chunk.content);
  };
}

async function piAi() {
  const streamAt = await loadPi();
  return async (baseURL, told) => {
    const stream = streamAt(baseURL);
    for await (const event of stream) if (event.type === 'text_delta') told(event.delta);
    return stream.result();
  };
}

async function aiSdk() {
  const { streamText, modelAt } = await loadAiSdk();
  return async (baseURL, told) => {
    const result = streamText({ model: modelAt(baseURL), prompt: 'Hi' });
    for await (const part of result.stream) if (part.type === 'text-delta') told(part.text);
    return result.text;
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
