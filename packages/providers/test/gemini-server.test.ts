// Whole conversations against a server that enforces what the API enforces.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  assistant,
  createEngine,
  filePart,
  foldEvents,
  imagePart,
  type Message,
  type StreamEvent,
  system,
  textPart,
  tool,
  toolResult,
  user,
} from '@antiphon/engine';
import { gemini } from '@antiphon/providers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

type Json = Record<string, unknown>;
interface Content {
  role: string;
  parts: Json[];
}

const KEYWORDS =
  /^(\$id|\$defs|\$ref|\$anchor|type|format|title|description|enum|items|prefixItems|(min|max)(Items|imum)|anyOf|oneOf|properties|additionalProperties|required|propertyOrdering)$/;
const FIELDS = /^(contents|systemInstruction|tools|toolConfig|generationConfig|safetySettings|cachedContent)$/;

/** What is wrong with a request, in the words of the API. */
function faultOf(url: string, key: unknown, body: Json): string | undefined {
  const model = /\/v1beta\/models\/([^:]+):streamGenerateContent\?alt=sse$/.exec(url)?.[1];
  if (model === undefined) return `no such method: ${url}`;
  if (key !== 'k-secret') return 'API key not valid. Please pass a valid API key.';
  const unknown = Object.keys(body).find(field => !FIELDS.test(field));
  if (unknown) return `Unknown name "${unknown}": Cannot find field.`;
  const contents = body.contents as Content[];
  const gemini3 = /gemini-3/.test(model);
  if (contents.length === 0) return 'contents is not specified';
  const current = contents.findLastIndex(({ role, parts }) => role === 'user' && parts.some(part => !part.functionResponse));
  for (const [i, { role, parts }] of contents.entries()) {
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.';
    if (parts.length === 0) return `contents[${i}].parts must not be empty`;
    if (parts.some(part => part.text === '' && !part.thoughtSignature)) return 'empty text parameter';
    const calls = parts.filter(part => part.functionCall);
    const answers = parts.filter(part => part.functionResponse);
    if (calls.length > 0 && (i === 0 || contents[i - 1]!.role !== 'user')) return 'function call turn must come after a user turn';
    if (calls.length > 0 && gemini3 && i > current && !calls[0]!.thoughtSignature) return 'Function call is missing a thought_signature';
    if (answers.length !== parts.length && answers.length > 0) return 'function response turn with other parts';
    const before = (contents[i - 1]?.parts ?? []).flatMap(part => (part.functionCall ? [part.functionCall as Json] : []));
    if (answers.length !== before.length) return 'the number of function response parts is not equal to the number of function call parts';
    for (const [n, answer] of answers.entries()) {
      const { name, id, response, parts: media } = answer.functionResponse as Json;
      if (name !== before[n]!.name || id !== before[n]!.id) return `response ${n} does not match its call`;
      if (typeof response !== 'object' || response === null || Array.isArray(response)) return 'response is no Struct';
      if (media && !gemini3) return '`function_response.parts` is not supported for this model';
    }
  }
  const config = (body.generationConfig ?? {}) as Json;
  const tools = ((body.tools ?? []) as Json[]).flatMap(({ functionDeclarations }) => (functionDeclarations ?? []) as Json[]);
  if (config.responseMimeType && tools.length > 0 && !gemini3) return 'Function calling with a response mime type is unsupported';
  return [config.responseJsonSchema, ...tools.map(({ parametersJsonSchema }) => parametersJsonSchema)].map(schemaFault).find(Boolean);
}

function schemaFault(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  for (const [key, value] of Object.entries(schema as Json)) {
    if (!KEYWORDS.test(key)) return `Unknown name "${key}" in a schema`;
    const inner = ['properties', '$defs'].includes(key) ? Object.values(value as Json) : Array.isArray(value) ? value : [value];
    const fault = ['enum', 'required', 'type', 'propertyOrdering'].includes(key) ? undefined : inner.map(schemaFault).find(Boolean);
    if (fault) return fault;
  }
  return undefined;
}

let server: Server;
let baseURL: string;
let bodies: Json[] = [];
let answers: object[][] = [];

beforeAll(async () => {
  server = createServer((req, res) => {
    let text = '';
    req.on('data', piece => {
      text += piece;
    });
    req.on('end', () => {
      const body = JSON.parse(text);
      bodies.push(body);
      const fault = faultOf(req.url ?? '', req.headers['x-goog-api-key'], body);
      if (fault !== undefined)
        return res.writeHead(400).end(JSON.stringify({ error: { code: 400, message: fault, status: 'INVALID_ARGUMENT' } }));
      const chunks = answers.shift() ?? say('ok');
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      return res.end(chunks.map(chunk => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(''));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise(resolve => server.close(resolve)));
beforeEach(() => {
  bodies = [];
  answers = [];
});

const say = (...parts: (string | object)[]) => [
  {
    candidates: [
      { content: { role: 'model', parts: parts.map(part => (typeof part === 'string' ? { text: part } : part)) }, finishReason: 'STOP' },
    ],
  },
];
const chatWith = (model: string) => createEngine({ chat: gemini({ model, baseURL, apiKey: 'k-secret' }), retry: false });
const contentsOf = (n: number) => bodies[n]!.contents as Content[];

const add = tool({
  name: 'add',
  description: 'Adds.',
  input: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { a: { type: 'number' }, kind: { const: 'sum' }, note: { type: ['string', 'null'] } },
    additionalProperties: false,
  },
  run: (args: unknown) => ({ sum: (args as { a: number }).a + 1 }),
});

describe('a conversation with tools', () => {
  it('sends back each part with the signature that it came with, and ids where they came', async () => {
    const first = [
      { text: 'Thinking', thought: true, thoughtSignature: 's0' },
      { text: 'Let me add.', thoughtSignature: 's1' },
      { executableCode: { language: 'PYTHON', code: '1+1' }, thoughtSignature: 's2' },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } },
      { functionCall: { id: 'c1', name: 'add', args: { a: 1 } }, thoughtSignature: 's3' },
      { functionCall: { id: 'c2', name: 'add', args: { a: 2 } } },
      { text: '', thoughtSignature: 's4' },
    ];
    answers = [say(...first), say('Done', { text: '', thoughtSignature: 's5' }), say('Bye')];
    const engine = chatWith('gemini-3-flash-preview');
    const outcome = await engine.chat([user('Add.')], { tools: [add] });
    expect(outcome).toMatchObject({ status: 'completed', text: 'Done', warnings: [] });
    expect(contentsOf(1)).toEqual([
      { role: 'user', parts: [{ text: 'Add.' }] },
      { role: 'model', parts: first },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'add', response: { output: expect.stringContaining('2') } } },
          { functionResponse: { id: 'c2', name: 'add', response: { output: expect.stringContaining('3') } } },
        ],
      },
    ]);
    // Through JSON, as a session stores it.
    const stored: Message[] = JSON.parse(JSON.stringify(outcome.messages));
    await engine.chat([...stored, user('Bye.')], { tools: [add] });
    expect(contentsOf(2)[1]).toEqual({ role: 'model', parts: first });
    expect(contentsOf(2)[3]).toEqual({ role: 'model', parts: [{ text: 'Done' }, { text: '', thoughtSignature: 's5' }] });
  });

  it('keeps calls without ids apart by their order', async () => {
    answers = [say({ functionCall: { name: 'add', args: { a: 1 } } }, { functionCall: { name: 'add', args: { a: 5 } } }), say('Done')];
    const outcome = await chatWith('gemini-2.5-flash').chat('Add.', { tools: [add] });
    expect(outcome.status).toBe('completed');
    const parts = contentsOf(1)[2]!.parts as { functionResponse: Json }[];
    expect(parts.map(({ functionResponse: { id, response } }) => [id, JSON.stringify(response)])).toEqual([
      [undefined, expect.stringContaining('2')],
      [undefined, expect.stringContaining('6')],
    ]);
  });

  it('streamed arguments are run and sent back whole', async () => {
    const piece = (functionCall: object, more: object = {}) => ({ candidates: [{ content: { parts: [{ functionCall, ...more }] } }] });
    answers = [
      [
        piece({ name: 'add', willContinue: true }, { thoughtSignature: 's' }),
        piece({ partialArgs: [{ jsonPath: '$.a', numberValue: 41 }], willContinue: true }),
        { candidates: [{ content: { parts: [{ functionCall: {} }] }, finishReason: 'STOP' }] },
      ],
      say('42'),
    ];
    const outcome = await chatWith('gemini-3-pro-preview').chat('Add.', { tools: [add] });
    expect(outcome.text).toBe('42');
    expect(contentsOf(1)[1]!.parts).toEqual([{ functionCall: { name: 'add', args: { a: 41 } }, thoughtSignature: 's' }]);
  });

  it('a history of another provider is accepted, and told', async () => {
    const foreign = { openai: { extra: 1 } };
    const history = [
      user('Add.'),
      assistant([
        { type: 'reasoning', text: 'Hm', providerState: foreign },
        { type: 'tool_call', id: 'x1', name: 'add', arguments: { a: 1 }, rawArguments: '{"a":1}', providerState: foreign },
        { type: 'tool_call', id: 'x2', name: 'add', arguments: {}, rawArguments: '{}' },
      ]),
      toolResult('x1', '2', { name: 'add' }),
      toolResult('x2', 'no', { name: 'add', isError: true }),
    ];
    const outcome = await chatWith('gemini-3-flash-preview').generate(history);
    expect(outcome.status).toBe('completed');
    expect(outcome.warnings.map(({ code }) => code)).toEqual(['other', 'repaired_history']);
    expect(contentsOf(0)[1]!.parts).toEqual([
      { functionCall: { name: 'add', args: { a: 1 } }, thoughtSignature: 'skip_thought_signature_validator' },
      { functionCall: { name: 'add', args: {} } },
    ]);
    expect(contentsOf(0)[2]!.parts[1]).toEqual({ functionResponse: { name: 'add', response: { error: 'no' } } });
    // Calls of an earlier turn are not looked at; the reasoning is lost all the same.
    const later = await chatWith('gemini-3-flash-preview').generate([...history, assistant('Two.'), user('Thanks.')]);
    const older = await chatWith('gemini-2.5-flash').generate(history);
    for (const { warnings } of [later, older]) expect(warnings.map(({ code }) => code)).toEqual(['other']);
  });

  it.each([
    ['gemini-3-flash-preview', 0],
    ['gemini-2.5-flash', 1],
  ])('pictures that a tool gives reach %s', async (model, warnings) => {
    const picture = imagePart(Uint8Array.of(1, 2, 3), 'image/png');
    const call = {
      type: 'tool_call',
      id: 'x',
      name: 'look',
      arguments: {},
      rawArguments: '{}',
      providerState: { gemini: { thoughtSignature: 's' } },
    } as const;
    const outcome = await chatWith(model).generate([
      user('Look.'),
      assistant([call, { ...call, id: 'y' }]),
      toolResult('x', [textPart('here'), picture]),
      toolResult('y', [{ type: 'json', value: { n: 1 } }]),
    ]);
    expect(outcome.status).toBe('completed');
    expect(outcome.warnings).toHaveLength(warnings);
    const inline = { inlineData: { mimeType: 'image/png', data: 'AQID' } };
    const [one, two] = contentsOf(0)[2]!.parts as { functionResponse: Json }[];
    expect(two!.functionResponse.response).toEqual({ output: { n: 1 } });
    if (warnings === 0) expect(one!.functionResponse).toEqual({ name: 'look', response: { output: 'here' }, parts: [inline] });
    else expect(contentsOf(0)[3]).toEqual({ role: 'user', parts: [{ text: 'What look returned beside text:' }, inline] });
  });
});

describe('structured answers', () => {
  const output = {
    type: 'object',
    properties: { n: { type: 'integer', exclusiveMinimum: 0 } },
    required: ['n'],
    additionalProperties: false,
  } as const;

  it('are held to the schema', async () => {
    answers = [say('{"n":3}')];
    const outcome = await chatWith('gemini-2.5-flash').generate('Number?', { output });
    expect(outcome).toMatchObject({ status: 'completed', output: { n: 3 }, warnings: [] });
    expect(bodies[0]!.generationConfig).toMatchObject({
      responseMimeType: 'application/json',
      responseJsonSchema: { properties: { n: { type: 'integer', minimum: 1 } } },
    });
  });

  it.each(['gemini-3-pro-preview', 'gemini-2.5-flash'])('work beside tools with %s', async model => {
    answers = [say('{"n":3}')];
    const outcome = await chatWith(model).chat('Number?', { output, tools: [add] });
    expect(outcome).toMatchObject({ status: 'completed', output: { n: 3 } });
  });
});

describe('any conversation is accepted', () => {
  it.each<[string, Message[]]>([
    ['system in the middle', [system('A'), system('B'), user('Hi'), system('C'), assistant('Yes'), user('Go')]],
    ['empty messages', [user(''), user('Hi'), assistant([]), assistant(''), user([textPart('')])]],
    ['two of one role', [user('A'), user('B'), assistant('C'), assistant('D'), user('E')]],
    ['a beginning with the assistant', [assistant('Hello!'), user('Hi')]],
    ['media', [user([imagePart({ url: 'https://x.test/a.png' }, 'image/*'), filePart(Uint8Array.of(1), 'application/pdf', 'a.pdf')])]],
  ])('%s', async (_, messages) => {
    const outcome = await chatWith('gemini-3-flash-preview').generate(messages);
    expect(outcome.status === 'failed' ? outcome.error.message : outcome.status).toBe('completed');
  });

  it('the fold of its events is its outcome', async () => {
    answers = [
      say({ text: 'T', thought: true, thoughtSignature: 's' }, 'Hi', {
        inlineData: { mimeType: 'image/png', data: 'AA==' },
        thoughtSignature: 'p',
      }),
    ];
    const engine = chatWith('gemini-3-pro-image-preview');
    const stream = engine.stream([user('Paint.')]);
    const events: StreamEvent[] = [];
    for await (const event of stream) events.push(event);
    const outcome = await stream.outcome;
    expect(foldEvents(events, { messages: [user('Paint.')] })).toEqual(outcome);
    await engine.chat([...outcome.messages, user('Again.')]);
    expect(contentsOf(1)[1]!.parts.at(-1)).toEqual({ inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 'p' });
  });
});
