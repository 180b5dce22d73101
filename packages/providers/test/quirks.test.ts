// What servers of this dialect really send, one minimal input each, over a real socket. The kinds follow reports of users of many clients.
import { gzipSync } from 'node:zlib';
import { type OpenaiChatOptions, openaiChat } from '@antiphon/providers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsOf, type Run, runWithRetries } from './support/run.js';
import { type Answer, serve, type TestServer } from './support/server.js';
import { chunk, END, event, events, fn, head, pieces, send, sse, TEXT, TOOL_END, tools, USAGE, USAGE_CHUNK } from './support/wire.js';

interface Case {
  answer: Answer;
  text?: string;
  reasoning?: string;
  finish?: string;
  raw?: string | null;
  usage?: object;
  calls?: [string, unknown][];
  error?: RegExp;
  reason?: string;
  retryable?: boolean;
  hits?: number;
  warning?: RegExp;
  options?: Partial<OpenaiChatOptions>;
  check?: (result: Run) => void;
}

const GOOD = { text: 'Good day', finish: 'stop', usage: { inputTokens: 11, outputTokens: 4, totalTokens: 15 } };
const ROLE = chunk({ role: 'assistant', content: null });
const ONE: [string, unknown][] = [['write', { text: 'x' }]];
const TWO: [string, unknown][] = [
  ['write', { text: 'x' }],
  ['write', { text: 'y' }],
];
const X = '{"text":"x"}';
const Y = '{"text":"y"}';
const CALL = { calls: ONE, finish: 'tool_calls', usage: GOOD.usage };
const CALLS = { ...CALL, calls: TWO };
const all =
  (...values: unknown[]): Answer =>
  res =>
    send(res, sse(values));
const raw =
  (body: string | Buffer, headers?: Record<string, string>): Answer =>
  res =>
    send(res, body, headers);
const status =
  (code: number, body: string, headers: Record<string, string> = { 'content-type': 'application/json' }): Answer =>
  res => {
    res.writeHead(code, headers);
    res.end(body);
  };
const onceThenGood =
  (first: Answer): Answer =>
  (res, req, n) =>
    n === 1 ? first(res, req, n) : send(res, sse([...TEXT, ...END]));
const distinct = (result: Run) => {
  const ids = result.calls.map(call => call.id);
  expect(ids.every(id => id !== '')).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
};
const smile = Buffer.from(sse([chunk({ content: 'ü語😀' }), ...END]));
const at = (text: string) => smile.indexOf(Buffer.from(text));

const CASES: Record<string, Case> = {
  // framing
  plain: { ...GOOD, answer: all(...TEXT, ...END), check: r => expect([r.model, r.responseId, r.raw]).toEqual(['m-1', 'r1', 'stop']) },
  crlf: { ...GOOD, answer: raw(events([...TEXT, ...END, '[DONE]'], '\r\n')) },
  'cr only': { ...GOOD, answer: raw(events([...TEXT, ...END, '[DONE]'], '\r')) },
  'crlf split': {
    ...GOOD,
    answer: res => pieces(res, events([...TEXT, ...END, '[DONE]'], '\r\n').split(/(?<=\r)/)),
  },
  'byte order mark': { ...GOOD, answer: raw(`\ufeff${sse([...TEXT, ...END])}`) },
  'split characters': {
    ...GOOD,
    text: 'ü語😀',
    answer: res =>
      pieces(res, [
        smile.subarray(0, at('ü') + 1),
        smile.subarray(at('ü') + 1, at('語') + 2),
        smile.subarray(at('語') + 2, at('😀') + 3),
        smile.subarray(at('😀') + 3),
      ]),
  },
  'comment as keep-alive': { ...GOOD, answer: raw(`: ping\n\n${event(TEXT[0])}: ping\n\n: ping\n\n${sse([TEXT[1], ...END])}`) },
  'comment wrapped as data': {
    ...GOOD,
    answer: raw(`data: : ping\n\n${event(TEXT[0])}data: : OPENROUTER PROCESSING\n\n${sse([TEXT[1], ...END])}`),
  },
  'empty data': { ...GOOD, answer: raw(`data:\n\ndata: \n\n${sse([...TEXT, ...END])}`) },
  'ping event': { ...GOOD, answer: raw(`event: ping\ndata:\n\n${sse([...TEXT, ...END])}`) },
  'no space after the colon': { ...GOOD, answer: raw(sse([...TEXT, ...END]).replaceAll('data: ', 'data:')) },
  'data in several lines': {
    ...GOOD,
    answer: raw(`${JSON.stringify(TEXT[0], null, 1).replace(/^/gm, 'data: ')}\n\n${sse([TEXT[1], ...END])}`),
  },
  'no blank line between events': { ...GOOD, answer: raw(sse([...TEXT, ...END]).replaceAll('\n\n', '\n')) },
  'no final line end': { ...GOOD, answer: raw(events([...TEXT, ...END]).trimEnd()) },
  'padding before fields': { ...GOOD, answer: raw(sse([...TEXT, ...END]).replace(/^data/gm, '  data')) },
  'lines of JSON without framing': {
    ...GOOD,
    answer: raw([...TEXT, ...END].map(value => JSON.stringify(value)).join('\n'), { 'content-type': 'application/x-ndjson' }),
  },
  'wrong content type': { ...GOOD, answer: raw(sse([...TEXT, ...END]), { 'content-type': 'application/json' }) },
  'no [DONE], but a finish': { ...GOOD, answer: raw(events([...TEXT, ...END])) },
  'text after [DONE]': { ...GOOD, answer: raw(`${sse([...TEXT, ...END])}${event(chunk({ content: ' and more' }))}`) },
  '[DONE] with the socket left open': {
    ...GOOD,
    answer: res => {
      head(res);
      res.write(sse([...TEXT, ...END]));
    },
  },
  'huge event': { ...GOOD, text: 'x'.repeat(2_000_000), answer: all(chunk({ content: 'x'.repeat(2_000_000) }), ...END) },
  gzip: { ...GOOD, answer: raw(gzipSync(sse([...TEXT, ...END])), { 'content-encoding': 'gzip' }) },
  'bad JSON in the middle': {
    ...GOOD,
    warning: /not valid JSON/,
    answer: raw(`${event(TEXT[0])}data: {"id":"r1", oops\n\n${sse([TEXT[1], ...END])}`),
  },
  'JSON that is no object': { ...GOOD, answer: raw(`${event(TEXT[0])}data: 17\n\ndata: null\n\ndata: "x"\n\n${sse([TEXT[1], ...END])}`) },

  // the end
  'cut off between events': { error: /not whole/, reason: 'truncated', retryable: false, text: 'Good day', answer: raw(events(TEXT)) },
  'cut off before anything was shown': { error: /not whole/, reason: 'truncated', retryable: true, hits: 3, answer: raw(event(ROLE)) },
  'cut off in an event': {
    error: /not whole/,
    reason: 'truncated',
    retryable: false,
    text: 'Good ',
    warning: /not valid JSON/,
    answer: raw(events(TEXT).slice(0, -20)),
  },
  '[DONE] without a finish': { text: 'Good day', finish: 'other', raw: null, answer: all(...TEXT) },
  '[DONE] alone': { error: /without an answer/, reason: 'truncated', retryable: true, hits: 3, answer: all() },
  'empty body': { error: /empty answer/, reason: 'truncated', retryable: true, hits: 3, answer: raw('') },
  'connection lost': {
    error: /lost after \d+ bytes/,
    reason: 'network_error',
    retryable: false,
    hits: 1,
    text: 'Good day',
    answer: async res => {
      await pieces(res, [events(TEXT)], false);
      res.destroy();
    },
  },
  'connection lost before the headers': { ...GOOD, hits: 2, answer: onceThenGood((_, req) => req.socket.destroy()) },

  // chunks
  'empty choices in the middle': {
    ...GOOD,
    answer: all({ id: '', model: '', choices: [], prompt_filter_results: [] }, TEXT[0], { id: '', choices: [] }, TEXT[1], ...END),
    check: r => expect([r.model, r.responseId]).toEqual(['m-1', 'r1']),
  },
  'choices missing': { ...GOOD, answer: all(TEXT[0], { id: 'r1', object: 'chat.completion.chunk' }, TEXT[1], ...END) },
  'choices null': { ...GOOD, answer: all(TEXT[0], { id: 'r1', choices: null }, { choices: [null, 1] }, TEXT[1], ...END) },
  'delta missing': {
    ...GOOD,
    answer: all(TEXT[0], { id: 'r1', choices: [{ index: 0, finish_reason: null }] }, { choices: [{ delta: null }] }, TEXT[1], ...END),
  },
  'role missing': { ...GOOD, answer: all(chunk({ content: 'Good day' }), ...END) },
  'content null': { ...GOOD, answer: all(ROLE, ...TEXT, chunk({ content: null }), ...END) },
  'content as a list': {
    ...GOOD,
    reasoning: 'hm hm',
    answer: all(
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm ' }] }] }),
      chunk({
        content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'Good ' }, { type: 'reference', reference_ids: [1] }, 'day'],
      }),
      ...END,
    ),
  },
  'content of an unknown kind': {
    ...GOOD,
    warning: /unknown kind "hologram"/,
    answer: all(...TEXT, chunk({ content: [{ type: 'hologram' }] }), ...END),
  },
  'id changes in each chunk': {
    ...GOOD,
    answer: all(...[...TEXT, ...END].map((value, i) => ({ ...value, id: `r${i + 1}` }))),
    check: r => expect(r.responseId).toBe('r1'),
  },
  'second choice': {
    ...GOOD,
    warning: /more than one choice/,
    answer: all(TEXT[0], { choices: [{ index: 1, delta: { content: 'NO' } }] }, TEXT[1], ...END),
  },
  refusal: {
    ...GOOD,
    text: 'I cannot.',
    finish: 'content_filter',
    raw: 'stop',
    answer: all(chunk({ refusal: 'I ' }), chunk({ refusal: 'cannot.' }), ...END),
  },
  'old completions': {
    ...GOOD,
    answer: all({ choices: [{ index: 0, text: 'Good ' }] }, { choices: [{ index: 0, text: 'day', finish_reason: 'stop' }], usage: USAGE }),
  },
  'whole message repeated at the end': {
    ...GOOD,
    answer: all(...TEXT, { choices: [{ index: 0, message: { content: 'Good day' }, finish_reason: 'stop' }], usage: USAGE }),
  },
  'a picture': {
    ...GOOD,
    answer: all(...TEXT, chunk({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }), ...END),
    check: r => expect(r.events).toContainEqual({ type: 'file', index: 1, file: { type: 'image', mediaType: 'image/png', data: 'AAAA' } }),
  },
  'citations in each chunk': {
    ...GOOD,
    answer: all(...[...TEXT, ...END].map(value => ({ ...value, citations: ['https://a.test/', 'https://b.test/'] })), {}),
    check: r => expect(r.sources.map(source => source.url)).toEqual(['https://a.test/', 'https://b.test/']),
  },
  annotations: {
    ...GOOD,
    answer: all(...TEXT, chunk({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.test/', title: 'A' } }] }), ...END),
    check: r => expect(r.sources).toEqual([{ type: 'source', url: 'https://a.test/', title: 'A' }]),
  },

  // reasoning
  reasoning_content: {
    ...GOOD,
    reasoning: 'hm hm',
    answer: all(chunk({ reasoning_content: 'hm ' }), chunk({ content: '', reasoning_content: 'hm' }), ...TEXT, ...END),
  },
  reasoning: { ...GOOD, reasoning: 'hm', answer: all(chunk({ reasoning: 'hm' }), ...TEXT, ...END) },
  'both reasoning fields': { ...GOOD, reasoning: 'hm', answer: all(chunk({ reasoning: 'hm', reasoning_content: 'hm' }), ...TEXT, ...END) },
  'reasoning null beside text': {
    ...GOOD,
    reasoning: '',
    answer: all(...TEXT.map((_, i) => chunk({ content: ['Good ', 'day'][i], reasoning_content: null, reasoning: '' })), ...END),
  },
  'reasoning details only': {
    ...GOOD,
    reasoning: 'hm hm',
    answer: all(
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'hm ', index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's', index: 0 }] }),
      ...TEXT,
      ...END,
    ),
    check: r =>
      expect(r.events.find(e => e.type === 'reasoning_end')).toMatchObject({
        providerState: {
          'openai-compatible': { reasoning_details: [{ type: 'reasoning.text', text: 'hm hm', signature: 's', index: 0 }] },
        },
      }),
  },
  'reasoning details beside the same text': {
    ...GOOD,
    reasoning: 'hm',
    answer: all(chunk({ reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0 }] }), ...TEXT, ...END),
  },
  'reasoning of GitHub Copilot, and its seal': {
    ...GOOD,
    reasoning: 'hm',
    answer: all(chunk({ reasoning_text: 'hm' }), chunk({ reasoning_opaque: 'sealed' }), ...TEXT, ...END),
    check: r =>
      expect(r.events.find(e => e.type === 'reasoning_end')).toMatchObject({
        text: 'hm',
        providerState: { 'openai-compatible': { reasoning_opaque: 'sealed' } },
      }),
  },
  'the seal behind the text': {
    ...GOOD,
    answer: all(...TEXT, chunk({ content: '', reasoning_opaque: 'sealed' }), ...END),
    check: r =>
      expect(r.events.find(e => e.type === 'reasoning_end')).toMatchObject({
        providerState: { 'openai-compatible': { reasoning_opaque: 'sealed' } },
      }),
  },

  // tool calls
  'tool: normal': {
    ...CALL,
    answer: all(
      ROLE,
      tools(fn(0, 'a', 'write', '')),
      tools(fn(0, undefined, undefined, '{"text":')),
      tools(fn(0, undefined, undefined, '"x"}')),
      ...TOOL_END,
    ),
    check: r => expect(r.calls[0]).toMatchObject({ id: 'a', rawArguments: X }),
  },
  'tool: no index': {
    ...CALL,
    answer: all(tools(fn(undefined, 'a', 'write', '{"text":')), tools(fn(undefined, undefined, undefined, '"x"}')), ...TOOL_END),
  },
  'tool: no index, two calls': {
    ...CALLS,
    answer: all(tools(fn(undefined, 'a', 'write', X)), tools(fn(undefined, 'b', 'write', Y)), ...TOOL_END),
    check: distinct,
  },
  'tool: no index, no id, two calls in one delta': {
    ...CALLS,
    answer: all(tools(fn(undefined, undefined, 'write', X), fn(undefined, undefined, 'write', Y)), ...TOOL_END),
    check: distinct,
  },
  'tool: one index, two ids': {
    ...CALLS,
    answer: all(tools(fn(0, 'a', 'write', X)), tools(fn(0, 'b', 'write', Y)), ...TOOL_END),
    check: distinct,
  },
  'tool: one index, no ids, two calls': {
    ...CALLS,
    answer: all(tools(fn(0, undefined, 'write', X)), tools(fn(0, '', 'write', Y)), ...TOOL_END),
    check: distinct,
  },
  'tool: a new id for each piece': {
    ...CALL,
    answer: all(tools(fn(0, 'a', 'write', '{"text":')), tools(fn(0, 'b', undefined, '"x"}')), ...TOOL_END),
  },
  'tool: a new id and the name again for each piece': {
    ...CALL,
    answer: all(tools(fn(0, 'a', 'write', '{"text":')), tools(fn(0, 'b', 'write', '"x"}')), tools(fn(0, 'b', 'write', ' ')), ...TOOL_END),
  },
  'tool: interleaved': {
    ...CALLS,
    answer: all(
      tools(fn(0, 'a', 'write', '{"te')),
      tools(fn(1, 'b', 'write', '{"text"')),
      tools(fn(0, undefined, undefined, 'xt":"x"}')),
      tools(fn(1, undefined, undefined, ':"y"}')),
      ...TOOL_END,
    ),
  },
  'tool: interleaved by id on one index': {
    ...CALLS,
    answer: all(
      tools(fn(0, 'a', 'write', '{"te')),
      tools(fn(0, 'b', 'write', '{"text"')),
      tools(fn(0, 'a', undefined, 'xt":"x"}')),
      tools(fn(0, 'b', undefined, ':"y"}')),
      ...TOOL_END,
    ),
  },
  'tool: text between pieces': {
    ...CALL,
    text: 'Good day',
    answer: all(tools(fn(0, 'a', 'write', '{"text":')), ...TEXT, tools(fn(0, undefined, undefined, '"x"}')), ...TOOL_END),
  },
  'tool: text in the same delta': {
    ...CALL,
    text: 'Good day',
    answer: all(TEXT[0], chunk({ content: 'day', tool_calls: [fn(0, 'a', 'write', X)] }), ...TOOL_END),
  },
  'tool: an empty list beside text': {
    ...GOOD,
    answer: all(...TEXT.map((_, i) => chunk({ content: ['Good ', 'day'][i], tool_calls: [] })), ...END),
  },
  'tool: index begins at 1': { ...CALL, answer: all(tools(fn(1, 'a', 'write', X)), ...TOOL_END) },
  'tool: huge index': {
    ...CALLS,
    answer: all(
      tools(fn(4e9, 'a', 'write', X)),
      tools(fn(9e15, 'b', 'write', '{"text":')),
      tools(fn(9e15, undefined, undefined, '"y"}')),
      ...TOOL_END,
    ),
  },
  'tool: index is no number': {
    ...CALLS,
    answer: all(
      tools(fn(null, 'a', 'write', X)),
      tools(fn('1', 'b', 'write', '{"text":')),
      tools(fn(1, undefined, undefined, '"y"}')),
      ...TOOL_END,
    ),
  },
  'tool: arguments as an object': { ...CALL, answer: all(tools(fn(0, 'a', 'write', { text: 'x' })), ...TOOL_END) },
  'tool: arguments empty': { ...CALL, calls: [['now', {}]], answer: all(tools(fn(0, 'a', 'now', '')), ...TOOL_END) },
  'tool: arguments null': { ...CALL, calls: [['now', {}]], answer: all(tools(fn(0, 'a', 'now', null)), ...TOOL_END) },
  'tool: arguments the text "null"': { ...CALL, calls: [['now', {}]], answer: all(tools(fn(0, 'a', 'now', 'null')), ...TOOL_END) },
  'tool: arguments missing': {
    ...CALL,
    calls: [['now', {}]],
    answer: all(tools({ index: 0, id: 'a', function: { name: 'now' } }), ...TOOL_END),
  },
  'tool: the text of an empty object before the text': {
    ...CALL,
    answer: all(tools(fn(0, 'a', 'write', '{}')), tools(fn(0, null, null, '{"text":')), tools(fn(0, null, null, '"x"}')), ...TOOL_END),
  },
  'tool: the text of an empty object alone': {
    ...CALL,
    calls: [
      ['now', {}],
      ['now', {}],
    ],
    answer: all(tools(fn(0, 'a', 'now', '{}')), tools(fn(0, null, null, '')), tools(fn(0, 'b', 'now', '{}')), ...TOOL_END),
    check: r => expect(r.calls.map(call => call.rawArguments)).toEqual(['{}', '{}']),
  },
  'tool: an empty object before the text': {
    ...CALL,
    answer: all(tools(fn(0, 'a', 'write', {})), tools(fn(0, undefined, undefined, X)), ...TOOL_END),
  },
  'tool: id missing': {
    ...CALLS,
    answer: all(tools(fn(0, undefined, 'write', X)), tools(fn(1, null, 'write', Y)), ...TOOL_END),
    check: distinct,
  },
  'tool: id empty later': { ...CALL, answer: all(tools(fn(0, 'a', 'write', '{"text":')), tools(fn(0, '', '', '"x"}')), ...TOOL_END) },
  'tool: name repeated': { ...CALL, answer: all(tools(fn(0, 'a', 'write', '{"text":')), tools(fn(0, 'a', 'write', '"x"}')), ...TOOL_END) },
  'tool: name late': {
    ...CALL,
    answer: all(tools(fn(0, 'a', undefined, '{"text":')), tools(fn(0, undefined, 'write', '"x"}')), ...TOOL_END),
  },
  'tool: name null, then late': { ...CALL, answer: all(tools(fn(0, 'a', null, '')), tools(fn(0, 'a', 'write', X)), ...TOOL_END) },
  'tool: type missing': { ...CALL, answer: all(tools(fn(0, 'a', 'write', X, {})), ...TOOL_END) },
  'tool: one id for two calls': {
    ...CALLS,
    answer: all(tools(fn(0, 'a', 'write', X)), tools(fn(1, 'a', 'write', Y)), ...TOOL_END),
    check: distinct,
  },
  'tool: two in one delta': { ...CALLS, answer: all(tools(fn(0, 'a', 'write', X), fn(1, 'b', 'write', Y)), ...TOOL_END) },
  'tool: a repeated call': {
    ...CALL,
    warning: /twice/,
    answer: all(
      tools(fn(0, 'a', 'write', X)),
      chunk({}, 'tool_calls'),
      tools(fn(0, 'a', 'write', X)),
      chunk({}, 'tool_calls'),
      USAGE_CHUNK,
    ),
  },
  'tool: the whole arguments once more behind their pieces': {
    ...CALL,
    warning: /twice/,
    answer: all(tools(fn(0, 'a', 'write', '{"text":')), tools(fn(0, null, null, '"x"}')), tools(fn(0, null, null, X)), ...TOOL_END),
  },
  'tool: the whole call once more at another index': {
    ...CALL,
    warning: /twice/,
    answer: all(tools(fn(0, 'a', 'write', '{"text":')), tools(fn(0, null, null, '"x"}')), tools(fn(1, 'a', 'write', X)), ...TOOL_END),
  },
  'tool: finish twice': { ...CALL, raw: 'tool_calls', answer: all(tools(fn(0, 'a', 'write', X)), ...TOOL_END, ...TOOL_END) },
  'tool: finish "stop"': { ...CALL, raw: 'stop', answer: all(tools(fn(0, 'a', 'write', X)), ...END) },
  'tool: no finish, but [DONE]': {
    calls: ONE,
    finish: 'tool_calls',
    raw: null,
    answer: all(tools(fn(0, 'a', 'write', X)), chunk({ content: '' })),
  },
  'tool: in the finish chunk': { ...CALL, answer: all(chunk({ tool_calls: [fn(undefined, 'a', 'write', X)] }, 'tool_calls'), USAGE_CHUNK) },
  'tool: cut off by length': {
    finish: 'length',
    answer: all(tools(fn(0, 'a', 'write', '{"text":"unfin')), chunk({}, 'length'), USAGE_CHUNK),
    check: r => expect(r.calls.map(call => call.invalid?.reason)).toEqual(['truncated']),
  },
  'tool: arguments are no JSON': {
    finish: 'tool_calls',
    answer: all(tools(fn(0, 'a', 'write', '{text: x}')), ...TOOL_END),
    check: r => expect(r.calls.map(call => [call.invalid?.reason, call.rawArguments])).toEqual([['invalid_json', '{text: x}']]),
  },
  'tool: stream cut off': { error: /not whole/, reason: 'truncated', answer: raw(event(tools(fn(0, 'a', 'write', X)))) },
  'tool: the old function_call': {
    ...CALL,
    answer: all(
      chunk({ function_call: { name: 'write', arguments: '{"text":' } }),
      chunk({ function_call: { arguments: '"x"}' } }),
      chunk({}, 'function_call'),
      USAGE_CHUNK,
    ),
  },
  'tool: names and keys of Object.prototype': {
    ...CALL,
    calls: [
      ['__proto__', JSON.parse('{"__proto__":{"polluted":true}}')],
      ['constructor', { toString: 1 }],
    ],
    answer: all(
      tools(fn(0, '__proto__', '__proto__', '{"__proto__":{"polluted":true}}')),
      tools(fn(1, 'constructor', 'constructor', '{"toString":1}')),
      ...TOOL_END,
    ),
    check: () => expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false),
  },

  // finish words
  'finish ""': { ...GOOD, answer: all(...TEXT.map((_, i) => chunk({ content: ['Good ', 'day'][i] }, '')), ...END) },
  'finish "null" until the end': { ...GOOD, answer: all(...TEXT.map((_, i) => chunk({ content: ['Good ', 'day'][i] }, 'null')), ...END) },
  'finish "eos"': { ...GOOD, raw: 'eos', answer: all(...TEXT, chunk({}, 'eos'), USAGE_CHUNK) },
  'finish "end"': { ...GOOD, raw: 'end', answer: all(...TEXT, chunk({}, 'end'), USAGE_CHUNK) },
  'finish "max_tokens"': { ...GOOD, finish: 'length', answer: all(...TEXT, chunk({}, 'max_tokens'), USAGE_CHUNK) },
  'finish "sensitive"': { ...GOOD, finish: 'content_filter', answer: all(...TEXT, chunk({}, 'sensitive'), USAGE_CHUNK) },
  'finish unknown': { ...GOOD, finish: 'other', raw: 'bored', answer: all(...TEXT, chunk({}, 'bored'), USAGE_CHUNK) },
  'finish __proto__': { ...GOOD, finish: 'other', raw: '__proto__', answer: all(...TEXT, chunk({}, '__proto__'), USAGE_CHUNK) },
  'finish in the text chunk': { ...GOOD, answer: all(TEXT[0], chunk({ content: 'day' }, 'stop'), USAGE_CHUNK) },

  // usage
  'usage in the choice': { ...GOOD, answer: all(...TEXT, { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: USAGE }] }) },
  'usage in each chunk': {
    ...GOOD,
    answer: all(
      { ...TEXT[0], usage: { prompt_tokens: 11, completion_tokens: 1, total_tokens: 12 } },
      chunk({ content: 'day' }, 'stop', { usage: USAGE }),
    ),
  },
  'usage of Groq': { ...GOOD, answer: all(...TEXT, chunk({}, 'stop', { x_groq: { usage: USAGE } })) },
  'usage never': { ...GOOD, usage: {}, answer: all(...TEXT, chunk({}, 'stop', { usage: null })) },
  'usage with reasoning inside': {
    ...GOOD,
    usage: { inputTokens: 11, outputTokens: 9, totalTokens: 20, reasoningTokens: 5, cachedInputTokens: 8 },
    answer: all(
      ...TEXT,
      chunk({}, 'stop', {
        usage: {
          prompt_tokens: 11,
          completion_tokens: 9,
          total_tokens: 20,
          prompt_tokens_details: { cached_tokens: 8 },
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      }),
    ),
  },
  'usage with reasoning apart': {
    ...GOOD,
    usage: { inputTokens: 11, outputTokens: 9, totalTokens: 20, reasoningTokens: 5, cachedInputTokens: 0 },
    answer: all(
      ...TEXT,
      chunk({}, 'stop', {
        usage: {
          prompt_tokens: 11,
          completion_tokens: 4,
          total_tokens: 20,
          prompt_cache_hit_tokens: 0,
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      }),
    ),
  },
  'usage with less at the end': {
    ...GOOD,
    usage: { ...GOOD.usage, cachedInputTokens: 8 },
    answer: all(
      { ...TEXT[0], usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 8 } } },
      TEXT[1],
      chunk({}, 'stop', { usage: { completion_tokens: 4, prompt_tokens: null, prompt_tokens_details: null } }),
    ),
  },
  'usage of the wrong type': {
    ...GOOD,
    usage: { totalTokens: 3 },
    answer: all(
      ...TEXT,
      chunk({}, 'stop', { usage: { prompt_tokens: '11', completion_tokens: null, total_tokens: 3, prompt_tokens_details: null } }),
    ),
  },

  // errors inside an answer with status 200
  'error first': {
    error: /upstream busy/,
    reason: 'provider_unavailable',
    retryable: true,
    hits: 3,
    answer: all({ error: { message: 'upstream busy', code: 503, type: 'server_error' } }),
  },
  'error in the middle': {
    error: /engine died/,
    reason: 'provider_unavailable',
    retryable: false,
    text: 'Good ',
    hits: 1,
    answer: all(TEXT[0], { error: { message: 'engine died', type: 'server_error' } }, TEXT[1], ...END),
  },
  'error beside empty choices': {
    error: /no capacity/,
    reason: 'rate_limited',
    answer: all({ id: 'r1', choices: [], error: { message: 'no capacity', code: 429 } }),
  },
  'error in the choice': {
    error: /provider gone/,
    reason: 'provider_unavailable',
    answer: all(TEXT[0], { choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 502, message: 'provider gone' } }] }),
  },
  'error of Groq': {
    error: /over capacity/,
    text: 'Good ',
    answer: all(TEXT[0], chunk({}, null, { x_groq: { id: 'q', error: 'over capacity' } })),
  },
  'error null': { ...GOOD, answer: all(...[...TEXT, ...END].map(value => ({ ...value, error: null }))) },
  'error as text': { error: /model crashed/, reason: 'unknown', answer: all({ error: 'model crashed' }) },
  'error event': {
    error: /Too long/,
    reason: 'context_length_exceeded',
    answer: raw('event: error\ndata: {"code":"context_length_exceeded","message":"Too long"}\n\n'),
  },
  'error event in plain words': { error: /boom/, reason: 'unknown', answer: raw('event: error\ndata: boom\n\n') },
  'error as a bare line': { error: /filter failed/, text: 'Good ', answer: raw(`${event(TEXT[0])}{"error":{"message":"filter failed"}}`) },
  'quota in a 200': {
    error: /exceeded/,
    reason: 'insufficient_quota',
    retryable: false,
    hits: 1,
    answer: all({ error: { message: 'You exceeded your current quota', code: 'insufficient_quota', type: 'insufficient_quota' } }),
  },
  'JSON error body': {
    error: /model not loaded/,
    answer: raw('{"error":{"message":"model not loaded"}}', { 'content-type': 'application/json' }),
  },
  'JSON error body, indented': {
    error: /model not loaded/,
    answer: raw(JSON.stringify({ error: { message: 'model not loaded' } }, null, 2), { 'content-type': 'application/json' }),
  },
  'a page': {
    error: /web page \("Sign in"\)/,
    reason: 'malformed_response',
    hits: 1,
    answer: raw('<!DOCTYPE html>\n<html><title>Sign in</title>\n<body>data: x</body></html>', { 'content-type': 'text/html' }),
  },
  'plain words': {
    error: /something else than an event stream: Welcome/,
    reason: 'malformed_response',
    answer: raw('Welcome to nginx', { 'content-type': 'text/plain' }),
  },
  'not streamed': {
    ...GOOD,
    reasoning: 'hm',
    answer: raw(
      JSON.stringify({
        id: 'r1',
        object: 'chat.completion',
        model: 'm-1',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Good day', reasoning_content: 'hm' }, finish_reason: 'stop' }],
        usage: USAGE,
      }),
      { 'content-type': 'application/json' },
    ),
  },
  'not streamed, indented, with a call': {
    ...CALL,
    answer: raw(
      JSON.stringify(
        {
          id: 'r1',
          choices: [
            {
              message: { content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'write', arguments: X } }] },
              finish_reason: 'tool_calls',
            },
          ],
          usage: USAGE,
        },
        null,
        2,
      ),
      { 'content-type': 'application/json' },
    ),
  },

  // statuses
  '429 with retry-after-ms': {
    ...GOOD,
    hits: 2,
    answer: onceThenGood(status(429, '{"error":{"message":"slow down"}}', { 'retry-after-ms': '0' })),
  },
  '429 quota': {
    error: /exceeded/,
    reason: 'insufficient_quota',
    retryable: false,
    hits: 1,
    answer: status(429, '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}'),
  },
  '502 page once': {
    ...GOOD,
    hits: 2,
    answer: onceThenGood(status(502, '<html><title>502 Bad gateway</title>', { 'content-type': 'text/html' })),
  },
  '400 page': {
    error: /400: Bad Request/,
    reason: 'invalid_request',
    retryable: false,
    hits: 1,
    answer: status(400, '<html><head><title>Bad Request</title></head>', { 'content-type': 'text/html' }),
  },
};

describe('what servers send', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await serve(Object.fromEntries(Object.entries(CASES).map(([name, { answer }]) => [name, answer])));
  });
  afterAll(() => server.close());

  it.concurrent.each(Object.entries(CASES))('%s', async (name, expected) => {
    const result = await runWithRetries(openaiChat({ model: 'm', baseURL: server.url(name), ...expected.options }));
    if (expected.error) expect(result.error?.message).toMatch(expected.error);
    else expect(result.error).toBeUndefined();
    if (expected.reason !== undefined) expect(result.error?.reason).toBe(expected.reason);
    if (expected.retryable !== undefined) expect(result.error?.retryable).toBe(expected.retryable);
    if (expected.text !== undefined) expect(result.text === expected.text || result.text.slice(0, 200)).toBe(true);
    if (expected.reasoning !== undefined) expect(result.reasoning).toBe(expected.reasoning);
    if (expected.finish !== undefined) expect(result.finish).toBe(expected.finish);
    if (expected.raw !== undefined) expect(result.raw ?? null).toBe(expected.raw);
    if (expected.usage !== undefined) expect(result.usage).toEqual(expected.usage);
    if (expected.calls !== undefined) expect(callsOf(result)).toEqual(expected.calls);
    if (expected.hits !== undefined) expect(server.hits(name)).toBe(expected.hits);
    if (expected.warning) expect(result.warnings.map(warning => warning.message).join('\n')).toMatch(expected.warning);
    else expect(result.warnings).toEqual([]);
    expected.check?.(result);
    // One beginning, at most one end, and no end beside an error.
    const types = result.events.map(item => item.type);
    expect(types.filter(type => type === 'message_end')).toHaveLength(result.error ? 0 : 1);
    expect(types.filter(type => type === 'message_start').length).toBeLessThanOrEqual(1);
  });

  it('has at least the seventy kinds of the survey', () => expect(Object.keys(CASES).length).toBeGreaterThanOrEqual(70));
});
