// Shapes that servers of the Responses API were recorded with, in made-up words: tools, whoever runs them.
import { toolResult } from '@antiphon/engine';
import { openaiResponses } from '@antiphon/providers';
import { describe, expect, it, test } from 'vitest';
import {
  added,
  answering,
  call,
  callItem,
  completed,
  created,
  done,
  type Item,
  message,
  messageItem,
  messageOf,
  prepare,
  readEvents,
  textDelta,
  USAGE,
  wire,
} from './support/responses-wire.js';
import { HELLO, run } from './support/run.js';

const END = completed();
const XAI = 'https://api.x.ai/v1';
const at = (baseURL: string, values: readonly object[], request = HELLO) =>
  run(openaiResponses({ model: 'm', baseURL, apiKey: 'k', fetch: answering(wire(values)) }), request);
const backTo = (baseURL: string, events: Parameters<typeof messageOf>[0]) =>
  prepare({ messages: [messageOf(events)] }, openaiResponses({ model: 'm', baseURL, apiKey: 'k' }));

describe('calls of tools that the server runs itself', () => {
  const seek: Item = {
    call_id: 'xs_1',
    input: '{"query":"news"}',
    name: 'x_keyword_search',
    type: 'custom_tool_call',
    id: 'ctc_1',
    status: 'completed',
  };
  const seekEvents = [
    added(0, { ...seek, input: '', status: 'in_progress' }),
    { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: seek.input },
    { type: 'response.custom_tool_call_input.done', output_index: 0, input: seek.input },
    done(0, seek),
  ];

  it('wait for nobody, and go back (xAI)', async () => {
    const result = await at(XAI, [created(), ...seekEvents, ...message(1, 'Found.'), END]);
    expect([result.text, result.calls, result.finish, result.warnings]).toEqual(['Found.', [], 'stop', []]);
    expect(result.events.filter(event => event.type.startsWith('tool_call'))).toEqual([]);
    expect((await backTo(XAI, result.events)).body.input).toEqual([seek, messageItem('Found.')]);
  });

  it('end after later items, or stand only in the whole response', async () => {
    const [begin, delta, , end] = seekEvents as [object, object, object, object];
    const late = await at(XAI, [created(), begin, delta, ...message(1, 'Found.'), end, END]);
    expect([late.text, late.calls, late.finish]).toEqual(['Found.', [], 'stop']);
    const whole = await at(XAI, [completed({ output: [seek, messageItem('Found.')] })]);
    expect([whole.text, whole.calls, whole.finish]).toEqual(['Found.', [], 'stop']);
  });

  it('are calls all the same when the request offers the tool, or another server makes them', async () => {
    const values = [created(), ...seekEvents, END];
    const offered = { ...HELLO, providerOptions: { openai: { tools: [{ type: 'custom', name: 'x_keyword_search' }] } } };
    for (const result of [await at(XAI, values, offered), await readEvents(values)]) {
      expect([result.calls.map(made => made.arguments), result.finish]).toEqual([[{ input: seek.input }], 'tool_calls']);
    }
  });

  it('have kinds of their own that nobody is warned of', async () => {
    const kinds = ['x_search_call', 'code_interpreter_call', 'view_image_call', 'view_x_video_call'];
    const items = kinds.map((type, i): Item => ({ arguments: '{}', call_id: '', name: 'n', type, id: `fc_${i}`, status: 'completed' }));
    const result = await at(XAI, [created(), ...items.map((item, i) => done(i, item)), ...message(4, 'ok'), END]);
    expect([result.warnings, result.calls, result.finish]).toEqual([[], [], 'stop']);
    expect((await backTo(XAI, result.events)).body.input).toEqual([...items, messageItem('ok')]);
  });

  it('begin as a call and end as results, which are sources and no input (Perplexity)', async () => {
    const base = 'https://api.perplexity.ai/v1';
    const results = [
      { id: 1, url: 'https://a.test', title: 'A', snippet: 'words', source: 'web' },
      { id: 2, url: 'https://b.test', title: 'B', snippet: '', source: 'web' },
    ];
    const find = callItem('search_web', '{"queries":["q"]}');
    const result = await at(base, [
      created({ model: 'fast' }),
      added(0, find),
      { type: 'response.reasoning.search_queries', call_id: 'call_1', queries: ['q'], thought: 'Searching' },
      { type: 'response.reasoning.search_results', call_id: 'call_1', results, thought: 'Found 2' },
      done(0, { type: 'search_results', queries: ['q'], results }),
      added(1, messageItem('', { content: null })),
      textDelta(1, 'It is so.[1]'),
      done(1, messageItem('It is so.[1]')),
      completed({ model: 'maker/m-2' }),
    ]);
    expect([result.text, result.reasoning, result.calls, result.finish, result.warnings]).toEqual(['It is so.[1]', '', [], 'stop', []]);
    expect(result.sources).toEqual([
      { type: 'source', url: 'https://a.test', title: 'A', quote: 'words' },
      { type: 'source', url: 'https://b.test', title: 'B' },
    ]);
    expect(result.model).toBe('maker/m-2');
    expect((await backTo(base, result.events)).body.input).toEqual([messageItem('It is so.[1]')]);
    const own = await at(base, [created(), ...call(0, callItem('add', '{"a":1}')), END], {
      ...HELLO,
      tools: [{ name: 'add', description: '', inputSchema: { type: 'object' } }],
    });
    expect([own.calls.map(made => [made.name, made.arguments]), own.finish]).toEqual([[['add', { a: 1 }]], 'tool_calls']);
  });
});

describe('programs that call tools', () => {
  const program: Item = { id: 'cm_1', type: 'program', call_id: 'call_p', code: 'await tools.hours()', fingerprint: 'gAAA==' };
  const caller = { type: 'program', caller_id: 'call_p' };
  const hours = callItem('hours', '{"who":"Ada"}', { status: 'in_progress', caller });

  it('get the result under their own name', async () => {
    // The reasoning before it was not told.
    const result = await readEvents([
      created(),
      done(1, program),
      ...call(2, hours),
      completed({ usage: { ...USAGE, total_tokens: undefined } }),
    ]);
    expect([result.calls.map(made => made.arguments), result.finish, result.warnings]).toEqual([[{ who: 'Ada' }], 'tool_calls', []]);
    const { body } = await prepare({ messages: [messageOf(result.events), toolResult('call_1', '{"hours":7}')] });
    expect(body.input).toEqual([program, hours, { type: 'function_call_output', call_id: 'call_1', output: '{"hours":7}', caller }]);
  });

  it('do not stand behind the calls of the model itself', async () => {
    const direct = callItem('hours', '{}', { caller: { type: 'direct' } });
    const { events } = await readEvents([created(), ...call(0, direct), END]);
    const { body } = await prepare({ messages: [messageOf(events), toolResult('call_1', '7')] });
    expect(body.input).toEqual([direct, { type: 'function_call_output', call_id: 'call_1', output: '7' }]);
  });

  it('are over in another answer', async () => {
    const output: Item = { id: 'cmo_1', type: 'program_output', status: 'completed', call_id: 'call_p', result: '{"hours":7}' };
    const result = await readEvents([created(), added(0, { ...output, result: '' }), done(0, output), ...message(1, '7'), END]);
    expect([result.text, result.finish, result.warnings]).toEqual(['7', 'stop', []]);
    expect((await prepare({ messages: [messageOf(result.events)] })).body.input).toEqual([output, messageItem('7')]);
  });
});

describe('tools that the caller runs', () => {
  test.each<[string, Item, Item]>([
    [
      'shell',
      { id: 'sh_1', type: 'shell_call', status: 'completed', action: { commands: ['ls'], timeout_ms: null }, call_id: 'call_s' },
      { id: 'sho_1', type: 'shell_call_output', status: 'completed', call_id: 'call_s', output: [{ stdout: 'a', stderr: '' }] },
    ],
    [
      'patch',
      { id: 'apc_1', type: 'apply_patch_call', status: 'completed', call_id: 'call_s', operation: { type: 'delete_file', path: 'a' } },
      { id: 'apo_1', type: 'apply_patch_call_output', status: 'completed', call_id: 'call_s' },
    ],
  ])('%s: the answer waits, unless the server has run it in a container', async (_, made, answer) => {
    const told = { type: 'response.shell_call_command.delta', output_index: 0, command_index: 0, delta: 'ls' };
    const waits = await readEvents([created(), added(0, made), told, done(0, made), END]);
    expect(waits.warnings).toMatchObject([{ code: 'other', message: expect.stringContaining('call_s') }]);
    const ran = await readEvents([created(), done(0, made), done(1, answer), ...message(2, 'Done.'), END]);
    expect([ran.text, ran.warnings]).toEqual(['Done.', []]);
    expect((await prepare({ messages: [messageOf(ran.events)] })).body.input).toEqual([made, answer, messageItem('Done.')]);
  });

  it('tool search: the id that counts is the last one', async () => {
    const search: Item = {
      id: 'tsc_1',
      type: 'tool_search_call',
      status: 'completed',
      arguments: { goal: 'g' },
      call_id: 'call_b',
      execution: 'client',
    };
    const result = await readEvents([created(), added(0, { ...search, arguments: {}, call_id: 'call_a' }), done(0, search), END]);
    expect(result.warnings).toMatchObject([{ message: expect.stringContaining('call_b') }]);
    expect((await prepare({ messages: [messageOf(result.events)] })).body.input).toEqual([search]);
  });
});
