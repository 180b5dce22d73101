// What stands in the place of an answer, told the same by every chat adapter.
import type { ChatAdapter } from '@antiphon/engine';
import { anthropic, gemini, openaiChat, openaiResponses } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { run } from './support/run.js';

type Fetch = typeof globalThis.fetch;
const KEY = 'sk-very-secret-123';
const ADAPTERS: readonly (readonly [string, (fetch: Fetch) => ChatAdapter])[] = [
  ['openaiChat', fetch => openaiChat({ model: 'm', baseURL: 'https://api.openai.com/v1', apiKey: KEY, fetch })],
  ['openaiResponses', fetch => openaiResponses({ model: 'm', apiKey: KEY, fetch })],
  ['anthropic', fetch => anthropic({ model: 'm', apiKey: KEY, fetch })],
  ['gemini', fetch => gemini({ model: 'm', apiKey: KEY, fetch })],
  ['gemini interactions', fetch => gemini({ model: 'm', api: 'interactions', apiKey: KEY, fetch })],
];
const STYLE = '<!doctype html><title>Log in</title><style>body { color: red } p { margin: 0 }</style>';

const CASES: readonly (readonly [what: string, body: string, reason: string, retryable: boolean, says: RegExp])[] = [
  ['nothing', '', 'truncated', true, /sent an empty answer/],
  ['comments and keep-alives', ': ping\n\ndata:\n\n', 'truncated', true, /sent an empty answer/],
  ['a web page', STYLE, 'malformed_response', false, /web page \("Log in"\).*base URL/],
  ['a web page whose script is cut off', `${STYLE}<script>if (a) { b("`, 'malformed_response', false, /web page/],
  ['words', `Welcome, ${KEY}!`, 'malformed_response', false, /something else than an event stream: Welcome/],
  ['words that are a list', '[1, 2]', 'malformed_response', false, /something else than an event stream/],
  ['JSON of another kind', '{"a": 1}', 'malformed_response', false, /something else than an event stream: \{"a": 1\}/],
  ['half of some JSON', '{"choices": [', 'truncated', true, /is not whole/],
  [
    'an error on many lines',
    '{\n  "error": {\n    "message": "Busy",\n    "type": "overloaded_error"\n  }\n}',
    'provider_unavailable',
    true,
    /Busy/,
  ],
  ['an error in a list', '[{"error": {"message": "Busy", "code": 503}}]', 'provider_unavailable', true, /Busy/],
  ['an error event that is no JSON', 'event: error\ndata: Overloaded\n\n', 'unknown', false, /Overloaded/],
  ['events of another kind', 'data: {"a": 1}\n\n', 'truncated', true, /is not whole/],
];

describe.each(ADAPTERS)('%s', (_, make) => {
  test.each(CASES)('%s', async (_what, body, reason, retryable, says) => {
    const fetch = (async () => new Response(body)) as Fetch;
    const { error, text } = await run(make(fetch));
    expect([text, error?.reason, error?.retryable]).toEqual(['', reason, retryable]);
    expect(error?.message).toMatch(says);
    expect(error?.message).not.toContain(KEY);
  });
});

test('lines of JSON that end with a bare [DONE]', async () => {
  const lines = [{ choices: [{ delta: { content: 'Hi' } }] }, { choices: [{ delta: {}, finish_reason: 'stop' }] }];
  const body = [...lines.map(line => JSON.stringify(line)), '[DONE]', ''].join('\n');
  const result = await run(openaiChat({ model: 'm', baseURL: 'http://model.test/v1', fetch: (async () => new Response(body)) as Fetch }));
  expect(result).toMatchObject({ error: undefined, text: 'Hi', finish: 'stop', warnings: [] });
});
