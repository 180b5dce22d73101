// Every way in which an interaction ends.
import { describe, expect, it } from 'vitest';
import { server } from './support/interactions-server.js';
import { call, completed, created, output, start, status } from './support/interactions-wire.js';
import { run } from './support/run.js';

const answered = (...events: (object | object[])[]) => run(server(events).chat());

describe('an end', () => {
  it.each([
    ['completed', 'stop'],
    ['incomplete', 'length'],
    ['budget_exceeded', 'other'],
  ])('%s means %s', async (word, finish) => {
    expect(await answered(created(), output(0, 'Hi'), completed(word))).toMatchObject({
      finish,
      raw: word,
      text: 'Hi',
      error: undefined,
    });
  });

  it('in the middle of a call marks it', async () => {
    const cut = call(0, 'c1', 'f', '{"a":').slice(0, -1);
    const { calls, finish } = await answered(created(), cut, completed('incomplete'));
    expect([finish, calls[0]?.invalid?.reason]).toEqual(['length', 'truncated']);
  });

  it('that is missing is a truncated answer, which is asked for again only when nothing was shown', async () => {
    expect((await answered(created(), output(0, 'Hi'), status('completed'))).error).toMatchObject({
      reason: 'truncated',
      retryable: false,
    });
    expect((await answered(created(), status('in_progress'))).error).toMatchObject({ reason: 'truncated', retryable: true });
  });

  it.each<[string, object[], object]>([
    ['failed', [completed('failed', { error: { code: 8, message: 'Too many.' } })], { reason: 'rate_limited', retryable: true }],
    [
      'failed in a step',
      [start(0, { type: 'model_output', error: { code: 14, message: 'Full.' } }), completed('failed')],
      { reason: 'provider_unavailable' },
    ],
    ['failed without a word', [completed('failed')], { message: expect.stringContaining('The interaction failed.') }],
    ['cancelled', [completed('cancelled')], { message: expect.stringContaining('was cancelled') }],
    ['announced and not sent', [status('failed')], { message: expect.stringContaining('The interaction failed.') }],
    [
      'an error event',
      [{ event_type: 'error', error: { code: 'gateway_timeout', message: 'Late.' } }],
      { reason: 'timeout', retryable: true },
    ],
    ['an error event without a word', [{ event_type: 'error' }], { message: expect.stringContaining('without a word') }],
    [
      'an error of HTTP in the stream',
      [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Slow down.' } }],
      { reason: 'rate_limited', status: 429 },
    ],
  ])('%s is a failure', async (_, events, expected) => {
    const { error } = await answered(created(), events);
    expect(error).toMatchObject({ name: 'AdapterError', provider: 'gemini', ...expected });
  });

  it('that fails after words keeps them', async () => {
    const result = await answered(created(), output(0, 'Hi'), {
      event_type: 'error',
      error: { message: 'Overloaded.', code: 'unavailable' },
    });
    expect(result).toMatchObject({ text: 'Hi', error: { reason: 'provider_unavailable', retryable: false } });
  });

  it('never shows the key', async () => {
    const { error } = await answered(created(), { event_type: 'error', error: { message: 'Bad key k-secret.' } });
    expect(error?.message).toContain('Bad key');
    expect(error?.message).not.toContain('k-secret');
  });
});
