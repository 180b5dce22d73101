// What openaiResponses makes of each kind of event.
import { assistant, toolResult, user } from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  ABOUT,
  added,
  argsDelta,
  bytesOf,
  call,
  callItem,
  completed,
  created,
  done,
  type Item,
  incomplete,
  message,
  messageItem,
  messageOf,
  prepare,
  read,
  readEvents,
  reasoningItem,
  summaryDelta,
  textDelta,
  USAGE,
  wire,
} from './support/responses-wire.js';

const HELLO_EVENTS = [created(), ...message(0, 'Hello'), completed()];
const END = completed();

/** The items that the next request has for this answer. */
async function sentBack(values: readonly object[]): Promise<Item[]> {
  const { events } = await readEvents(values);
  return (await prepare({ messages: [messageOf(events)] })).body.input;
}

describe('text', () => {
  it('streams, and ends with the account', async () => {
    const result = await readEvents([
      created(),
      added(0, messageItem('', { content: [] })),
      textDelta(0, 'Hel'),
      textDelta(0, 'lo'),
      done(0, messageItem('Hello')),
      END,
    ]);
    expect(result.events.map(event => event.type)).toEqual(['message_start', 'text_delta', 'text_delta', 'text_end', 'message_end']);
    expect(result).toMatchObject({ text: 'Hello', finish: 'stop', raw: 'completed', model: 'm-1', responseId: 'resp_1', warnings: [] });
    expect(result.usage).toEqual({ inputTokens: 11, outputTokens: 4, totalTokens: 15, cachedInputTokens: 3, reasoningTokens: 1 });
  });

  test.each<[string, object[]]>([
    ['without deltas', [created(), done(0, messageItem('Hello')), END]],
    [
      'with a part that only ends',
      [created(), { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hello' }, END],
    ],
    ['with deltas that were cut short', [textDelta(0, 'He'), done(0, messageItem('Hello')), END]],
    ['only in the last event', [created(), completed({ output: [messageItem('Hello')] })]],
    ['that ends only in the last event', [created(), textDelta(0, 'Hel'), completed({ output: [messageItem('Hello')] })]],
    ['told twice', [...HELLO_EVENTS.slice(0, -1), completed({ output: [messageItem('Hello', { id: 'other' })] })]],
    ['without a beginning', [textDelta(0, 'Hello'), END]],
    ['without places', [{ type: 'response.output_text.delta', delta: 'Hello' }, END]],
    ['and nothing after the end', [...HELLO_EVENTS, textDelta(0, ' again')]],
    [
      'between events of no meaning',
      [{ type: 'keepalive' }, ...HELLO_EVENTS.slice(0, 2), { type: 'response.new_thing.delta', output_index: 0 }, ...HELLO_EVENTS.slice(2)],
    ],
  ])('%s', async (_, values) => {
    const result = await readEvents(values);
    expect([result.text, result.error, result.warnings, result.finish]).toEqual(['Hello', undefined, [], 'stop']);
  });

  it('tells by the name of the event what its data does not', async () => {
    const body = 'event: response.output_text.delta\ndata: {"output_index":0,"delta":"Hi"}\n\nevent: response.completed\ndata: {}\n\n';
    expect(await read(body)).toMatchObject({ text: 'Hi', finish: 'stop', usage: {}, warnings: [] });
  });

  it('has a phase, which goes back', async () => {
    const items = await sentBack([
      created(),
      ...message(0, 'Looking…', { phase: 'commentary' }),
      ...message(1, 'Done', { id: 'msg_2', phase: 'final_answer' }),
      END,
    ]);
    expect(items.map(item => [item.id, item.phase])).toEqual([
      ['msg_1', 'commentary'],
      ['msg_2', 'final_answer'],
    ]);
  });

  it('of two messages that are told at once stays apart', async () => {
    const [a, b] = [messageItem('one'), messageItem('two', { id: 'msg_2' })];
    const values = [created(), textDelta(0, 'o'), textDelta(1, 't'), textDelta(0, 'ne'), textDelta(1, 'wo'), done(1, b), done(0, a), END];
    const result = await readEvents(values);
    expect(result.events.flatMap(event => (event.type === 'text_end' ? [event.text] : []))).toEqual(['one', 'two']);
    expect(await sentBack(values)).toEqual([a, b]);
  });

  it('that ended as another than was streamed stays as it was shown, with a warning', async () => {
    const result = await readEvents([textDelta(0, 'abc'), done(0, messageItem('xyz')), END]);
    expect([result.text, result.warnings.map(warning => warning.code)]).toEqual(['abc', ['malformed_event']]);
  });

  it('can be a refusal beside words', async () => {
    const item = {
      ...messageItem(''),
      content: [
        { type: 'output_text', text: 'Well. ', annotations: [] },
        { type: 'refusal', refusal: 'No.' },
      ],
    };
    const values = [
      created(),
      textDelta(0, 'Well. '),
      { type: 'response.refusal.delta', output_index: 0, content_index: 1, delta: 'No.' },
      done(0, item),
      END,
    ];
    expect(await readEvents(values)).toMatchObject({ text: 'Well. No.', finish: 'content_filter', raw: 'completed' });
    expect(await sentBack(values)).toEqual([item]);
  });
});

describe('reasoning', () => {
  it('has summaries with space between them, and goes back as it was', async () => {
    const item = reasoningItem(['First', 'Then']);
    const values = [
      created(),
      added(0, reasoningItem()),
      summaryDelta(0, 'Fi'),
      summaryDelta(0, 'rst'),
      summaryDelta(0, 'Then', 1),
      done(0, item),
      ...message(1, 'Yes'),
      END,
    ];
    expect(await readEvents(values)).toMatchObject({ reasoning: 'First\n\nThen', text: 'Yes' });
    expect((await sentBack(values)).map(sent => JSON.stringify(sent))).toEqual(
      [item, messageItem('Yes')].map(sent => JSON.stringify(sent)),
    );
  });

  it('that is shown in full is not told twice', async () => {
    const item = { ...reasoningItem(['Short']), content: [{ type: 'reasoning_text', text: 'Long' }] };
    const values = [
      { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Long' },
      summaryDelta(0, 'Short'),
      done(0, item),
      ...message(1, 'x'),
      END,
    ];
    expect((await readEvents(values)).reasoning).toBe('Long');
    expect((await sentBack(values))[0]).toEqual(item);
  });

  it('without a word is kept', async () => {
    expect(await sentBack([created(), done(0, reasoningItem()), ...message(1, 'x'), END])).toEqual([reasoningItem(), messageItem('x')]);
  });

  test.each<[string, object, object, number]>([
    ['encrypted', {}, {}, 2],
    ['stored', { store: true }, { encrypted_content: null }, 2],
    ['in plain words', {}, { encrypted_content: null, content: [{ type: 'reasoning_text', text: 'hm' }] }, 2],
    ['neither', {}, { encrypted_content: null }, 1],
  ])('that is %s goes back when the server can read it', async (_, about, more, count) => {
    const { events } = await readEvents([created(about), done(0, reasoningItem([], more)), ...message(1, 'x'), completed(about)]);
    const { body, warnings } = await prepare({ messages: [messageOf(events)] });
    expect([body.input.length, warnings.length]).toEqual([count, 2 - count]);
    expect(body.input.at(-1)!.id).toBe(count === 2 ? 'msg_1' : undefined);
  });

  it('that nothing followed stays at home', async () => {
    const { events } = await readEvents([created(), done(0, reasoningItem(['Hm'])), incomplete('max_output_tokens')]);
    const { body, warnings } = await prepare({ messages: [user('Hi'), messageOf(events), user('And?')] });
    expect(body.input.map(item => item.role)).toEqual(['user', 'user']);
    expect(warnings.map(warning => warning.code)).toContain('repaired_history');
  });
});

describe('calls', () => {
  it('stream, in parallel too', async () => {
    const [a, b] = [callItem('add', '{"a":1}'), callItem('mul', '{"b":2}', { id: 'fc_2', call_id: 'call_2' })];
    const open = (index: number, item: Item) => added(index, { ...item, arguments: '' });
    const values = [
      created(),
      open(0, a),
      open(1, b),
      argsDelta(0, '{"a'),
      argsDelta(1, '{"b":'),
      argsDelta(0, '":1}'),
      argsDelta(1, '2}'),
      done(1, b),
      done(0, a),
      END,
    ];
    const result = await readEvents(values);
    expect(result.calls.map(({ id, name, arguments: args }) => [id, name, args])).toEqual([
      ['call_2', 'mul', { b: 2 }],
      ['call_1', 'add', { a: 1 }],
    ]);
    expect(result.finish).toBe('tool_calls');
    expect(await sentBack(values)).toEqual([a, b]);
  });

  test.each<[string, object[]]>([
    ['only at their end', [done(0, callItem('add', '{"a":1}')), END]],
    ['only in the last event', [completed({ output: [callItem('add', '{"a":1}')] })]],
    ['without a beginning', [argsDelta(0, '{"a":1}'), done(0, callItem('add', '{"a":1}')), END]],
    [
      'whole after no delta',
      [added(0, callItem('add', '')), { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' }, END],
    ],
  ])('come %s', async (_, values) => {
    const { calls, finish } = await readEvents(values);
    expect([calls.map(made => [made.id, made.name, made.arguments]), finish]).toEqual([[['call_1', 'add', { a: 1 }]], 'tool_calls']);
  });

  it.each<[string, object[]]>([
    ['', []],
    [' and told by themselves', [{ type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' }]],
  ])('whose pieces are sealed%s count as they ended', async (_, told) => {
    const item = callItem('add', '{"a":1}');
    const values = [created(), added(0, callItem('add', '')), argsDelta(0, 'qZ9x'), ...told, done(0, item), END];
    const result = await readEvents(values);
    expect(result.calls.map(made => [made.name, made.arguments, made.rawArguments, made.invalid])).toEqual([
      ['add', { a: 1 }, '{"a":1}', undefined],
    ]);
    expect(result.warnings.map(warning => warning.code)).toEqual(['malformed_event']);
    expect(await sentBack(values)).toEqual([item]);
  });

  it('whose end forgets the arguments keep them', async () => {
    const told = { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' };
    const result = await readEvents([created(), added(0, callItem('add', '')), told, done(0, callItem('add', '{}')), END]);
    expect(result.calls.map(made => [made.name, made.arguments])).toEqual([['add', { a: 1 }]]);
  });

  it('that were cut off are never valid', async () => {
    const item = callItem('add', '{"a":', { status: 'incomplete' });
    const result = await readEvents([created(), added(0, callItem('add', '')), argsDelta(0, '{"a":'), incomplete('max_output_tokens')]);
    expect([result.finish, result.raw, result.calls[0]?.invalid?.reason]).toEqual(['length', 'max_output_tokens', 'truncated']);
    const ended = await readEvents([created(), ...call(0, item), incomplete('max_output_tokens')]);
    expect(ended.calls[0]?.invalid).toBeDefined();
  });

  it.each([0, undefined])('that a server only tells whole, all at one place (%s), are two calls', async place => {
    const items = ['a', 'b'].map((call_id, i) => callItem('add', `{"a":${i}}`, { id: `fc_${i}`, call_id }));
    const ends = items.map(item => ({ ...done(0, item), output_index: place }));
    const { calls } = await readEvents([created(), ...ends, ends[1]!, completed({ output: [] })]);
    expect(calls.map(({ id, arguments: given }) => [id, given])).toEqual([
      ['a', { a: 0 }],
      ['b', { a: 1 }],
    ]);
  });

  it('of a custom tool take free text, and are answered in kind', async () => {
    const item: Item = { type: 'custom_tool_call', id: 'ct_1', call_id: 'call_9', name: 'sql', input: "SELECT {'a': 1}" };
    const delta = (text: string) => ({ type: 'response.custom_tool_call_input.delta', output_index: 0, delta: text });
    const { events, calls, warnings, finish } = await readEvents([
      created(),
      added(0, { ...item, input: '' }),
      delta('SELECT '),
      delta("{'a': 1}"),
      done(0, item),
      END,
    ]);
    expect([warnings, finish]).toEqual([[], 'tool_calls']);
    expect(calls).toMatchObject([{ id: 'call_9', rawArguments: item.input, arguments: { input: item.input } }]);
    expect(calls[0]!.invalid).toBeUndefined();
    const { body } = await prepare({ messages: [messageOf(events), toolResult('call_9', '3 rows')] });
    expect(body.input).toEqual([item, { type: 'custom_tool_call_output', call_id: 'call_9', output: '3 rows' }]);
  });

  it('that stand in a wrapper are made by themselves, when each of them can be', async () => {
    const args = JSON.stringify({
      tool_uses: [
        { recipient_name: 'functions.weather', parameters: { city: 'Rome' } },
        { recipient_name: 'sights', parameters: {} },
      ],
    });
    const values = [created(), ...call(0, callItem('parallel', args)), END];
    const tools = ['weather', 'sights'].map(name => ({ name, description: '', inputSchema: { type: 'object' } }));
    const offered = await readEvents(values, { messages: [], tools });
    expect(offered.calls.map(({ id, name, arguments: given }) => [id, name, given])).toEqual([
      ['call_1_0', 'weather', { city: 'Rome' }],
      ['call_1_1', 'sights', {}],
    ]);
    for (const some of [tools.slice(1), [], [...tools, { ...tools[0]!, name: 'parallel' }]]) {
      const whole = await readEvents(values, { messages: [], tools: some });
      expect(whole.calls.map(({ id, name, rawArguments }) => [id, name, rawArguments])).toEqual([['call_1', 'parallel', args]]);
    }
    const { body } = await prepare({ messages: [messageOf(offered.events), toolResult('call_1_0', 'sun'), toolResult('call_1_1', '[]')] });
    expect(body.input.map(item => item.call_id)).toEqual(['call_1_0', 'call_1_1', 'call_1_0', 'call_1_1']);
  });
});

describe('tools of the provider', () => {
  const url = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 2 };
  const inFile = {
    type: 'container_file_citation',
    container_id: 'cntr_1',
    file_id: 'cfile_1',
    filename: 'plot.csv',
    start_index: 0,
    end_index: 1,
  };
  const kinds: [string, Item, object][] = [
    [
      'web search',
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'q', sources: [{ type: 'url', url: 'https://s.test' }] },
      },
      { source: ['https://s.test'] },
    ],
    [
      'file search',
      {
        type: 'file_search_call',
        id: 'fs_1',
        status: 'completed',
        queries: ['q'],
        results: [{ file_id: 'f1', filename: 'a.pdf', text: 'words', score: 1 }],
      },
      { source: ['a.pdf'] },
    ],
    [
      'code interpreter',
      {
        type: 'code_interpreter_call',
        id: 'ci_1',
        status: 'completed',
        container_id: 'c',
        code: '1+1',
        outputs: [
          { type: 'logs', logs: '2' },
          { type: 'image', url: 'data:image/png;base64,AAAA' },
        ],
      },
      { file: ['AAAA'] },
    ],
    [
      'image generation',
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', output_format: 'webp', result: 'UklG', revised_prompt: 'cat' },
      { file: ['UklG'] },
    ],
    ['list of remote tools', { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'zip', tools: [{ name: 't', input_schema: {} }] }, {}],
    ['remote call', { type: 'mcp_call', id: 'mcp_1', server_label: 'zip', name: 't', arguments: '{}', output: 'ok', error: null }, {}],
    [
      'approval request',
      { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'zip', name: 't', arguments: '{}' },
      { warning: ['other'] },
    ],
    [
      'computer',
      {
        type: 'computer_call',
        id: 'cu_1',
        call_id: 'call_5',
        action: { type: 'click', x: 1, y: 2 },
        pending_safety_checks: [],
        status: 'completed',
      },
      { warning: ['other'] },
    ],
    ['program', { type: 'program', id: 'cm_1', call_id: 'call_6', code: 'x', fingerprint: 'gAAA' }, {}],
    ['compaction', { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' }, {}],
    ['kind that nobody knows', { type: 'tea_call', id: 'tea_1', leaves: 3 }, { warning: ['other'] }],
  ];

  test.each(kinds)(
    '%s: what it found and made is told, and its item goes back',
    async (_, item, told: { source?: string[]; file?: string[]; warning?: string[] }) => {
      const values = [
        created(),
        added(0, { ...item, status: 'in_progress' }),
        { type: `response.${item.type}.in_progress`, output_index: 0 },
        done(0, item),
        ...message(1, 'So.'),
        END,
      ];
      const { events, sources, warnings, text, finish, calls } = await readEvents(values);
      expect([text, finish, calls]).toEqual(['So.', 'stop', []]);
      expect(sources.map(source => source.url ?? source.title)).toEqual(told.source ?? []);
      expect(events.flatMap(event => (event.type === 'file' ? [event.file.data] : []))).toEqual(told.file ?? []);
      expect(warnings.map(warning => warning.code)).toEqual(told.warning ?? []);
      const { body, warnings: none } = await prepare({ messages: [messageOf(events)] });
      expect([body.input.map(sent => JSON.stringify(sent)), none]).toEqual([
        [item, messageItem('So.')].map(sent => JSON.stringify(sent)),
        [],
      ]);
    },
  );

  it('a call that was answered in the same response waits for nobody', async () => {
    const shell = { type: 'shell_call', id: 'sh_1', call_id: 'call_7', action: { commands: ['ls'] } };
    const output = { type: 'shell_call_output', id: 'so_1', call_id: 'call_7', output: [] };
    expect((await readEvents([created(), done(0, shell), done(1, output), ...message(2, 'x'), END])).warnings).toEqual([]);
    expect((await readEvents([created(), done(0, shell), END])).warnings[0]?.message).toContain('shell_call_output');
  });

  it('citations become sources, each once, behind the text', async () => {
    const item = { ...messageItem(''), content: [{ type: 'output_text', annotations: [url, url, inFile], text: 'See A' }] };
    const early = {
      type: 'response.output_text.annotation.added',
      output_index: 0,
      content_index: 0,
      annotation_index: 0,
      annotation: url,
    };
    const values = [created(), textDelta(0, 'See'), early, textDelta(0, ' A'), done(0, item), END];
    const result = await readEvents(values);
    expect(result.events.map(event => event.type)).toEqual([
      'message_start',
      'text_delta',
      'text_delta',
      'text_end',
      'source',
      'source',
      'message_end',
    ]);
    expect(result.sources).toEqual([
      { type: 'source', url: 'https://a.test', title: 'A' },
      { type: 'source', id: 'cfile_1', title: 'plot.csv', providerState: { openai: { annotation: inFile } } },
    ]);
    expect(await sentBack(values)).toEqual([item]);
  });
});

describe('the end', () => {
  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['moon_phase', 'other'],
  ])('incomplete for %s means %s', async (reason, finish) => {
    const result = await readEvents([created(), ...message(0, 'Hel', { status: 'incomplete' }), incomplete(reason)]);
    expect([result.text, result.finish, result.raw, result.error]).toEqual(['Hel', finish, reason, undefined]);
  });

  test.each<[string, object, string, boolean]>([
    ['an error event', { type: 'error', code: 'server_error', message: 'Went wrong', param: null }, 'provider_unavailable', true],
    [
      'an error in an event',
      { type: 'error', error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Went wrong' } },
      'context_length_exceeded',
      false,
    ],
    ['a bare error', { error: { message: 'Went wrong', code: 'rate_limit_exceeded' } }, 'rate_limited', true],
    [
      'a failed response',
      { type: 'response.failed', response: { ...ABOUT, status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Went wrong' } } },
      'rate_limited',
      true,
    ],
    [
      'a quota',
      { type: 'response.failed', response: { ...ABOUT, status: 'failed', error: { code: 'insufficient_quota', message: 'Went wrong' } } },
      'insufficient_quota',
      false,
    ],
  ])('%s is a failure with the server’s words', async (_, failure, reason, retryable) => {
    const early = await readEvents([created(), failure]);
    expect([early.error?.reason, early.error?.retryable]).toEqual([reason, retryable]);
    expect(early.error?.message).toContain('Went wrong');
    const late = await readEvents([created(), textDelta(0, 'Hel'), failure, textDelta(0, 'lo')]);
    expect([late.text, late.error?.reason, late.error?.retryable, late.finish]).toEqual(['Hel', reason, false, undefined]);
  });

  test.each(['response.failed', 'response.cancelled'])('%s without a word is a failure too', async type => {
    expect((await readEvents([created(), { type, response: { ...ABOUT, error: null } }])).error?.name).toBe('AdapterError');
  });

  it('does not come: the answer is truncated', async () => {
    const cut = await readEvents([created(), ...message(0, 'Hel')]);
    expect([cut.text, cut.error?.reason, cut.error?.retryable, cut.finish]).toEqual(['Hel', 'truncated', false, undefined]);
    const empty = await readEvents([created()]);
    expect([empty.error?.reason, empty.error?.retryable, empty.events]).toEqual(['truncated', true, []]);
  });

  it('has other words at OpenRouter', async () => {
    const part = (delta: string) => ({ type: 'response.content_part.delta', output_index: 0, content_index: 0, delta });
    const end = (response: object) => ({ type: 'response.done', response: { ...ABOUT, usage: USAGE, ...response } });
    const whole = await readEvents([created(), part('Hel'), part('lo'), done(0, messageItem('Hello')), end({ status: 'completed' })]);
    expect([whole.text, whole.finish, whole.warnings, whole.error]).toEqual(['Hello', 'stop', [], undefined]);
    const failed = await readEvents([created(), end({ status: 'failed', error: { code: 'server_error', message: 'Went wrong' } })]);
    expect([failed.error?.reason, failed.error?.retryable]).toEqual(['provider_unavailable', true]);
    const error = await readEvents([created(), { type: 'response.error', error: { code: 'rate_limit_exceeded', message: 'Slow down' } }]);
    expect([error.error?.reason, error.error?.message]).toEqual(['rate_limited', expect.stringContaining('Slow down')]);
  });

  it('is read from one JSON value as well', async () => {
    const output = [reasoningItem(['Hm']), messageItem('Hello'), callItem('add', '{"a":1}')];
    const result = await read(
      JSON.stringify({ ...ABOUT, status: 'completed', error: null, incomplete_details: null, output, usage: USAGE }, null, 2),
      undefined,
      'application/json',
    );
    expect(result).toMatchObject({ reasoning: 'Hm', text: 'Hello', finish: 'tool_calls', warnings: [], error: undefined });
    expect((await prepare({ messages: [messageOf(result.events)] })).body.input).toEqual(output);
  });
});

describe('whatever the pieces', () => {
  const values = [
    created(),
    done(0, reasoningItem(['Grüße'])),
    ...message(1, 'Schön 🎉 日本'),
    ...call(2, callItem('add', '{"a":"é"}')),
    END,
  ];
  it('the events are the same', async () => {
    const want = (await readEvents(values)).events;
    const bytes = bytesOf(`\uFEFF${wire(values)}`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 }), async cuts => {
        const sorted = [...new Set(cuts)].sort((a, b) => a - b);
        const pieces = [0, ...sorted].map((from, i) => bytes.subarray(from, sorted[i] ?? bytes.length));
        expect((await read(pieces)).events).toEqual(want);
      }),
      { numRuns: 40 },
    );
  });

  it('nothing that a server sends can do more than fail', async () => {
    const known = [
      'output_text.delta',
      'output_item.added',
      'output_item.done',
      'function_call_arguments.delta',
      'reasoning_summary_text.delta',
      'completed',
      'failed',
    ];
    const oddity = fc.record(
      {
        type: fc.constantFrom(...known.map(name => `response.${name}`), 'error', '__proto__', ''),
        output_index: fc.oneof(fc.nat(3), fc.constantFrom(-1, 4e9, null, 'x')),
        content_index: fc.oneof(fc.nat(2), fc.constantFrom(4e9, null)),
        delta: fc.jsonValue(),
        item: fc.oneof(
          fc.jsonValue(),
          fc.record({
            type: fc.constantFrom(
              'message',
              'reasoning',
              'function_call',
              'custom_tool_call',
              'web_search_call',
              'image_generation_call',
              'code_interpreter_call',
            ),
            content: fc.jsonValue(),
            summary: fc.jsonValue(),
            action: fc.jsonValue(),
            outputs: fc.jsonValue(),
            result: fc.jsonValue(),
            call_id: fc.jsonValue(),
            name: fc.constantFrom('__proto__', 'constructor', '', 7),
            arguments: fc.jsonValue(),
            input: fc.jsonValue(),
          }),
        ),
        response: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(oddity, { maxLength: 12 }), async values => {
        // `run` lets through what is no error of ours.
        const { error, finish, events } = await readEvents(values);
        expect((error === undefined) !== (finish === undefined)).toBe(true);
        if (error === undefined) await prepare({ messages: [messageOf(events)] });
      }),
      { numRuns: 300 },
    );
  });

  it('what came goes back, for any answer', async () => {
    const text = fc.string({ minLength: 1, unit: 'binary' });
    const anyItem = fc.oneof(
      text.map(said => messageItem(said)),
      fc.array(text, { maxLength: 3 }).map(said => reasoningItem(said)),
      fc.jsonValue({ maxDepth: 1 }).map(value => callItem('f', JSON.stringify({ value }))),
      fc.constant<Item>({ type: 'mcp_call', id: 'm', name: 't', arguments: '{}', output: null }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anyItem, { maxLength: 5 }), async some => {
        const items = [...some, messageItem('end')].map((item, i) => ({
          ...item,
          id: `id_${i}`,
          ...(item.call_id ? { call_id: `call_${i}` } : {}),
        }));
        const sent = await sentBack([created(), ...items.map((item, i) => done(i, item)), END]);
        expect(sent.map(item => JSON.stringify(item))).toEqual(items.map(item => JSON.stringify(item)));
      }),
      { numRuns: 100 },
    );
  });

  it('a text that was cut since is sent without what no longer fits', async () => {
    const message = messageOf((await readEvents(HELLO_EVENTS)).events);
    const [part] = message.content as [{ type: 'text'; text: string }];
    const { body } = await prepare({ messages: [assistant([{ ...part, text: 'Hel' }])] });
    expect(body.input).toEqual([{ role: 'assistant', content: 'Hel' }]);
  });
});
