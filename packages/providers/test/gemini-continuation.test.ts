// A long answer that the server pauses and goes on with in the answer to the next request.
import { audioPart, createEngine, ok, tool, user } from '@antiphon/engine';
import { gemini, geminiTranscription } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { contextOf, run } from './support/run.js';

type Body = { contents: unknown[]; continuationToken?: string };
const ABOUT = { model: 'gemini-3-flash-preview', baseURL: 'http://model.test' };
const USAGE = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 2, totalTokenCount: 17 };
const piece = (parts: object[], more: object = {}) => ({ candidates: [{ content: { parts }, ...more }], usageMetadata: USAGE });
const paused = (parts: object[], continuationToken: string) => piece(parts, { finishReason: 'CONTINUATION', continuationToken });
const done = (...parts: object[]) => piece(parts, { finishReason: 'STOP' });

/** Answers the nth request with the nth list of chunks, and keeps what was asked. */
function server(...answers: (readonly object[] | Response)[]) {
  const bodies: Body[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    bodies.push(JSON.parse(String(init?.body)) as Body);
    const answer = answers[Math.min(bodies.length, answers.length) - 1]!;
    return answer instanceof Response ? answer : new Response(answer.map(value => `data: ${JSON.stringify(value)}\n\n`).join(''));
  };
  return { bodies, fetch };
}

describe('a paused answer', () => {
  it('goes on as one, with the same request and the token', async () => {
    const { bodies, fetch } = server(
      // The token comes before the pause is told.
      [piece([{ text: 'One ' }], { continuationToken: 't1' }), piece([{ text: 'two ' }], { finishReason: 'CONTINUATION' })],
      [paused([{ text: 'three ' }], 't2')],
      [done({ text: 'four.' })],
    );
    const result = await run(gemini({ ...ABOUT, fetch }));
    expect(result).toMatchObject({ text: 'One two three four.', finish: 'stop', raw: 'STOP', warnings: [], error: undefined });
    expect(result.usage).toEqual({ inputTokens: 30, outputTokens: 21, totalTokens: 51, reasoningTokens: 6 });
    expect(result.events.filter(({ type }) => /^(message_|text_end)/.test(type))).toHaveLength(3);
    expect(bodies.map(({ continuationToken }) => continuationToken)).toEqual([undefined, 't1', 't2']);
    expect(bodies.map(({ continuationToken: _, ...rest }) => rest)).toEqual([0, 1, 2].map(() => expect.objectContaining(bodies[0]!)));
  });

  it('may think first and call afterwards; what follows the call is asked for without the token', async () => {
    const { bodies, fetch } = server(
      [paused([{ text: '', thoughtSignature: 's1' }], 't1')],
      [done({ functionCall: { name: 'now', args: {} }, thoughtSignature: 's2' })],
      [done({ text: 'Noon.' })],
    );
    const now = tool({ name: 'now', description: 'Tells the time.', input: { type: 'object' }, run: () => ok('12') });
    const outcome = await createEngine({ chat: gemini({ ...ABOUT, fetch }), tools: [now] }).chat('When?');
    expect(outcome).toMatchObject({ status: 'completed', text: 'Noon.', warnings: [] });
    expect(bodies.map(({ continuationToken }) => continuationToken)).toEqual([undefined, 't1', undefined]);
    expect(bodies[2]!.contents[1]).toMatchObject({
      parts: [
        { text: '', thoughtSignature: 's1' },
        { functionCall: { name: 'now' }, thoughtSignature: 's2' },
      ],
    });
  });

  it('ends with what the last piece says, and with a server that only repeats itself', async () => {
    const cut = server([paused([{ text: 'a' }], 't1')], [piece([{ text: 'b' }], { finishReason: 'MAX_TOKENS', continuationToken: 't2' })]);
    expect(await run(gemini({ ...ABOUT, fetch: cut.fetch }))).toMatchObject({
      text: 'ab',
      finish: 'length',
      raw: 'MAX_TOKENS',
      warnings: [],
    });
    const same = server([paused([{ text: 'a' }], 't1')]);
    expect(await run(gemini({ ...ABOUT, fetch: same.fetch }))).toMatchObject({ finish: 'length', raw: 'CONTINUATION' });
    expect([cut.bodies.length, same.bodies.length]).toEqual([2, 2]);
  });

  it('that breaks off keeps what came', async () => {
    const { fetch } = server([paused([{ text: 'a' }], 't1')], new Response('{"error":{"code":503,"message":"Later."}}', { status: 503 }));
    const outcome = await createEngine({ chat: gemini({ ...ABOUT, fetch }), retry: false }).chat([user('Hi')]);
    expect(outcome).toMatchObject({ status: 'failed', text: 'a', error: { reason: 'provider_unavailable' } });
  });

  it('of a recording is written down to its end', async () => {
    const json = (value: object) => new Response(JSON.stringify(value));
    const { bodies, fetch } = server(json(paused([{ text: 'Once upon ' }], 't1')), json(done({ text: 'a time.' })));
    const audio = audioPart(Uint8Array.of(1), 'audio/wav');
    const transcript = await geminiTranscription({ ...ABOUT, fetch }).transcribe({ audio }, contextOf());
    expect(transcript).toMatchObject({ text: 'Once upon a time.', usage: { inputTokens: 20, totalTokens: 34 }, warnings: [] });
    expect(bodies[1]!.continuationToken).toBe('t1');
  });
});
