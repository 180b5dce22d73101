// Faults of requests that a server refuses: what is a limit over time and what is too long, and what strict mode does not know.
import { type ChatAdapter, type JsonObject, user } from '@antiphon/engine';
import { anthropic, gemini, openaiChat, openaiResponses } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';
import { contextOf, run } from './support/run.js';

const key = { model: 'm', apiKey: 'sk-test-0123456789' };
const LIMITED = { reason: 'rate_limited', retryable: true };
const TOO_LONG = { reason: 'context_length_exceeded', retryable: false };

describe('a limit over time', () => {
  const code = { type: 'tokens', code: 'rate_limit_exceeded' };
  const words = 'on tokens per min (TPM): Limit 10000,';
  const cases: [string, object, object][] = [
    [
      'a limit in the words of a full context',
      { message: 'Too many tokens, please wait before trying again.', code: 'rate_limit_exceeded' },
      LIMITED,
    ],
    ['a limit without a code', { message: 'Too many tokens per minute' }, LIMITED],
    [
      'a limit that others have used up',
      { ...code, message: `Rate limit reached for m ${words} Used 8554, Requested 3082. Please try again in 9.8s.` },
      LIMITED,
    ],
    [
      'a request that alone is over the limit',
      { ...code, message: `Request too large for m ${words} Requested 14000. The input must be reduced.` },
      TOO_LONG,
    ],
    [
      'a request over a limit that nobody has used',
      { ...code, message: `Rate limit reached for m ${words} Used 0, Requested 14,000.` },
      TOO_LONG,
    ],
    ['a full context is no limit', { message: 'prompt is too long: too many tokens', type: 'invalid_request_error' }, TOO_LONG],
  ];
  const byStatus = (error: object, headers = {}) =>
    new Response(JSON.stringify({ error }), { status: JSON.stringify(error).includes('invalid_request_error') ? 400 : 429, headers });
  const bodies: Record<string, (error: object) => Response> = {
    'inside the stream': error => new Response(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`),
    'by its status': error => byStatus(error),
    'with advice to try again': error => byStatus(error, { 'x-should-retry': 'true' }),
  };
  for (const [place, answer] of Object.entries(bodies)) {
    test.each(cases)(`${place}: %s`, async (_, error, expected) => {
      const fetch = async () => answer(error);
      for (const make of [openaiChat, openaiResponses, anthropic, gemini])
        expect((await run(make({ ...key, fetch }))).error, make.name).toMatchObject(expected);
    });
  }
});

describe('strict mode', () => {
  const adapters: [string, ChatAdapter][] = [
    ['openaiChat', openaiChat({ ...key, baseURL: 'https://api.openai.com/v1' })],
    ['openaiResponses', openaiResponses(key)],
  ];
  const sent = async (adapter: ChatAdapter, properties: JsonObject) => {
    const schema = { type: 'object', properties, required: Object.keys(properties) };
    const { body } = await adapter.prepare!({ messages: [user('Hi')], output: { name: 'answer', schema } }, contextOf());
    const { response_format, text } = JSON.parse(body);
    return response_format?.json_schema ?? text.format;
  };

  test.each(adapters)('a format that OpenAI does not know is not sent in strict mode: %s', async (_, adapter) => {
    const { strict, schema } = await sent(adapter, {
      page: { type: 'string', format: 'uri' },
      many: { type: 'array', items: { type: 'string', format: 'regex', description: 'A pattern.' } },
      format: { type: 'string', format: 'date-time' },
    });
    expect(strict).toBe(true);
    expect(schema.properties).toEqual({
      page: { type: 'string', description: 'Format: uri.' },
      many: { type: 'array', items: { type: 'string', description: 'A pattern. Format: regex.' } },
      format: { type: 'string', format: 'date-time' },
    });
  });

  test.each(adapters)('the formats that it knows stay: %s', async (_, adapter) => {
    const known = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
    const properties = Object.fromEntries(known.map(format => [format, { type: 'string', format }]));
    expect((await sent(adapter, properties)).schema.properties).toEqual(properties);
  });
});
