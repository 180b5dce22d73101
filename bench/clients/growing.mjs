// How a user of each client reads JSON that grows: the arguments of a tool call, or a structured answer. Each takes a base URL and a
// function that is told the partial value after each delta, and resolves to the whole value. Clients that give text only tell nothing.
import { z } from 'zod';
import { loadAiSdk, loadAntiphon, loadLangchain, loadOpenai, loadPi, PROMPT } from './connect.mjs';

const schema = z.object({ items: z.array(z.object({ id: z.number(), name: z.string() })) });
const SAVE = { name: 'save', description: 'Saves the items.' };

async function antiphonTool() {
  const { createEngine, PartialJson, tool, chatAt } = await loadAntiphon();
  const tools = [tool({ ...SAVE, input: schema })];
  return async (baseURL, told) => {
    const stream = createEngine({ chat: chatAt(baseURL), tools }).stream('Hi');
    const parser = new PartialJson();
    for await (const event of stream) {
      if (event.type !== 'tool_call_delta') continue;
      parser.push(event.delta);
      told(parser.value);
    }
    return (await stream.outcome).toolCalls[0].arguments;
  };
}

async function antiphonOutput() {
  const { createEngine, chatAt } = await loadAntiphon();
  return async (baseURL, told) => {
    const stream = createEngine({ chat: chatAt(baseURL) }).stream('Hi', { output: schema });
    for await (const event of stream) if (event.type === 'output_delta') told(event.value);
    return (await stream.outcome).output;
  };
}

async function openaiRawTool() {
  const completionsAt = await loadOpenai();
  return async baseURL => {
    const tools = [{ type: 'function', function: { ...SAVE, parameters: z.toJSONSchema(schema) } }];
    const stream = await completionsAt(baseURL).create({ ...PROMPT, tools, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '';
    return JSON.parse(text);
  };
}

async function openaiHelperTool() {
  const [completionsAt, { zodFunction }] = await Promise.all([loadOpenai(), import('openai/helpers/zod')]);
  return async (baseURL, told) => {
    const stream = completionsAt(baseURL).stream({ ...PROMPT, tools: [zodFunction({ ...SAVE, parameters: schema })] });
    stream.on('tool_calls.function.arguments.delta', event => told(event.parsed_arguments));
    for await (const _ of stream);
    return (await stream.finalMessage()).tool_calls[0].function.parsed_arguments;
  };
}

async function openaiHelperOutput() {
  const [completionsAt, { zodResponseFormat }] = await Promise.all([loadOpenai(), import('openai/helpers/zod')]);
  return async (baseURL, told) => {
    const stream = completionsAt(baseURL).stream({ ...PROMPT, response_format: zodResponseFormat(schema, 'answer') });
    stream.on('content.delta', event => told(event.parsed));
    for await (const _ of stream);
    return (await stream.finalMessage()).parsed;
  };
}

async function langchainTool() {
  const modelAt = await loadLangchain();
  return async (baseURL, told) => {
    let whole;
    for await (const chunk of await modelAt(baseURL)
      .bindTools([{ ...SAVE, schema }])
      .stream('Hi')) {
      whole = whole === undefined ? chunk : whole.concat(chunk);
      told(whole.tool_calls?.[0]?.args);
    }
    return whole.tool_calls[0].args;
  };
}

async function piTool() {
  const streamAt = await loadPi();
  return async (baseURL, told) => {
    const stream = streamAt(baseURL, [{ ...SAVE, parameters: z.toJSONSchema(schema) }]);
    for await (const event of stream) if (event.type === 'toolcall_delta') told(event.partial.content[event.contentIndex].arguments);
    return (await stream.result()).content.find(part => part.type === 'toolCall').arguments;
  };
}

async function aiSdkTool() {
  const { streamText, tool, modelAt } = await loadAiSdk();
  const tools = { save: tool({ description: SAVE.description, inputSchema: schema }) };
  return async baseURL => {
    const result = streamText({ model: modelAt(baseURL), prompt: 'Hi', tools });
    let text = '';
    for await (const part of result.stream) if (part.type === 'tool-input-delta') text += part.delta;
    return JSON.parse(text);
  };
}

async function aiSdkToolMessages() {
  const { streamText, tool, readUIMessageStream, modelAt } = await loadAiSdk();
  const tools = { save: tool({ description: SAVE.description, inputSchema: schema }) };
  return async (baseURL, told) => {
    const result = streamText({ model: modelAt(baseURL), prompt: 'Hi', tools });
    let input;
    for await (const message of readUIMessageStream({ stream: result.toUIMessageStream() })) {
      input = message.parts.find(part => part.type === 'tool-save')?.input;
      told(input);
    }
    return input;
  };
}

async function aiSdkOutput() {
  const { streamText, Output, modelAt } = await loadAiSdk();
  return async (baseURL, told) => {
    const result = streamText({ model: modelAt(baseURL), prompt: 'Hi', output: Output.object({ schema }) });
    for await (const partial of result.partialOutputStream) told(partial);
    return result.output;
  };
}

/** Kind → name → a function that loads the client and gives how it reads. */
export const GROWING = {
  tool: {
    'antiphon engine + PartialJson': antiphonTool,
    'openai 7 raw iterator': openaiRawTool,
    'openai 7 .stream()': openaiHelperTool,
    '@langchain/openai 1.6 + concat': langchainTool,
    'pi-ai 0.73': piTool,
    'AI SDK 7 streamText': aiSdkTool,
    'AI SDK 7 readUIMessageStream': aiSdkToolMessages,
  },
  output: {
    'antiphon engine, output': antiphonOutput,
    'openai 7 .stream()': openaiHelperOutput,
    'AI SDK 7 partialOutputStream': aiSdkOutput,
  },
};
