// Streams of the Gemini API recorded by others, with the facts that a correct client gets from them; they are kept beside the repository.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gemini } from '@antiphon/providers';
import { describe, expect, it, test } from 'vitest';
import { type Run, run } from './support/run.js';

type Text = string | { chars: number; utf8_sha256: string };
interface Facts {
  protocol?: string;
  model?: string;
  text?: Text;
  reasoning?: Text;
  tool_calls?: { name: string; args: unknown }[];
  finish_raw?: string;
  finish?: string;
  thought_signatures?: number;
  usage?: { input: number; cache_read: number | null; output: number; reasoning: number | null; raw_total: number };
}
/** Of an interaction the facts are the server's own account; its words and calls are put together here. */
interface InteractionFacts {
  protocol: string;
  events: number;
  event_types: string[];
  usage: Record<`total_${'' | 'input_' | 'output_' | 'thought_' | 'cached_' | 'tool_use_'}tokens`, number>;
}
interface WireEvent {
  event_type: string;
  step?: { type: string; id?: string; name?: string };
  delta?: { type: string; text?: string; signature?: string; arguments?: string };
  interaction?: { id: string; status: string; model: string };
}

const root = fileURLToPath(new URL('../../../../shared/streams/', import.meta.url));
const present = existsSync(`${root}facts.json`);
if (!present) console.log('skipped: the recorded streams are not beside this checkout');
const all: Record<string, { facts: Facts }> = present ? JSON.parse(readFileSync(`${root}facts.json`, 'utf8')) : {};
const isWhole = ({ protocol = '' }: Facts) => protocol === 'gemini generateContent' || protocol === 'gemini (one body)';
const mine = Object.entries(all).filter(([, { facts }]) => isWhole(facts));
const interactions = Object.entries(all).filter(([, { facts }]) => facts.protocol === 'gemini interactions');
const logged = Object.keys(all).find(file => all[file]?.facts.protocol === 'gemini (proxy log)');

const WAYS: Record<string, (body: string) => Uint8Array[]> = {
  whole: body => [encode(body)],
  'in one-byte pieces': body => Array.from(encode(body), byte => Uint8Array.of(byte)),
  'split in each multi-byte character': body => {
    const bytes = encode(body);
    const cuts = [...bytes.keys()].filter(i => (bytes[i]! & 0xc0) === 0x80);
    return [...cuts, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : cuts[i - 1]!, end));
  },
  'with CRLF': body => [encode(body.replaceAll('\n', '\r\n'))],
  'with CR': body => [encode(body.replaceAll('\n', '\r'))],
  'with comments between events': body => [encode(body.replaceAll('\n\n', '\n\n: ping\n\n'))],
};

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function replay(pieces: Uint8Array[], options: Partial<Parameters<typeof gemini>[0]> = {}): Promise<Run> {
  const fetch = async () => {
    let next = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const piece = pieces[next++];
      if (piece) controller.enqueue(piece);
      else controller.close();
    };
    return new Response(new ReadableStream({ pull }));
  };
  return run(gemini({ model: 'm', baseURL: 'http://model.test/v1', fetch, ...options }));
}

/** The same chunks as an event stream, and as the list of JSON that comes without `alt=sse`. */
function bodiesOf(file: string): Record<string, string> {
  const content = readFileSync(root + file, 'utf8');
  const chunks: unknown[] = file.endsWith('.json')
    ? [JSON.parse(content)]
    : content.split('\n').flatMap(line => (line.trim() === '' ? [] : [JSON.parse(line)]));
  return {
    events: chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join(''),
    list: `[${chunks.map(chunk => JSON.stringify(chunk, null, 2)).join('\n,\n')}\n]`,
    bare: file.endsWith('.json') ? content : chunks.map(chunk => JSON.stringify(chunk)).join('\n'),
  };
}

function signaturesIn(value: unknown): number {
  return JSON.stringify(value).split('"thoughtSignature":').length - 1;
}

function expectText(actual: string, expected: Text = ''): void {
  if (typeof expected === 'string') expect(actual).toBe(expected);
  else expect([actual.length, createHash('sha256').update(actual).digest('hex')]).toEqual([expected.chars, expected.utf8_sha256]);
}

function expectFacts(result: Run, want: Facts): void {
  expect(result.error).toBeUndefined();
  expect(result.warnings).toEqual([]);
  expectText(result.text, want.text);
  expectText(result.reasoning, want.reasoning);
  expect(result.calls.map(call => ({ name: call.name, args: call.arguments }))).toEqual(want.tool_calls ?? []);
  expect(result.calls.every(call => !call.invalid)).toBe(true);
  expect(result.raw).toBe(want.finish_raw);
  expect(result.finish).toBe(want.finish?.replace('-', '_'));
  if (want.model !== undefined) expect(result.model).toBe(want.model);
  const ends = result.events.filter(({ type }) => type.endsWith('_end') || type === 'tool_call');
  expect(signaturesIn(ends)).toBe(want.thought_signatures ?? 0);
  const { input, output, raw_total, cache_read, reasoning } = want.usage!;
  expect(result.usage).toEqual({
    inputTokens: input,
    outputTokens: output,
    totalTokens: raw_total,
    ...(cache_read === null ? {} : { cachedInputTokens: cache_read }),
    ...(reasoning === null ? {} : { reasoningTokens: reasoning }),
  });
}

function expectInteraction(result: Run, events: WireEvent[], { usage }: InteractionFacts): void {
  const said = (kind: string) => events.flatMap(({ delta }) => (delta?.type === kind ? [delta] : []));
  const { interaction } = events.at(-1)!;
  expect(result).toMatchObject({ error: undefined, warnings: [], reasoning: '', responseId: interaction?.id, model: interaction?.model });
  expect(result.text).toBe(
    said('text')
      .map(({ text }) => text)
      .join(''),
  );
  const called = events.flatMap(({ step }) => (step?.type === 'function_call' ? [step] : []));
  const args = said('arguments_delta').map(({ arguments: text }) => text);
  expect(result.calls.map(({ id, name, rawArguments }) => [id, name, rawArguments])).toEqual(
    called.map(({ id, name }, i) => [id, name, args[i]]),
  );
  expect([result.raw, result.finish]).toEqual([interaction?.status, called.length > 0 ? 'tool_calls' : 'stop']);
  const signatures = result.events.flatMap(event =>
    event.type === 'reasoning_end' ? [event.providerState?.gemini?.thoughtSignature] : [],
  );
  expect(signatures).toEqual(said('thought_signature').map(({ signature }) => signature));
  expect(result.usage).toEqual({
    inputTokens: usage.total_input_tokens + usage.total_tool_use_tokens,
    outputTokens: usage.total_output_tokens + usage.total_thought_tokens,
    totalTokens: usage.total_tokens,
    cachedInputTokens: usage.total_cached_tokens,
    reasoningTokens: usage.total_thought_tokens,
  });
}

describe.skipIf(!present)('recorded streams', () => {
  test('there are some', () => expect(mine.length).toBeGreaterThanOrEqual(5));
  describe.each(mine)('%s', (file, { facts }) => {
    it.each(Object.keys(WAYS))('%s', async way => expectFacts(await replay(WAYS[way]!(bodiesOf(file).events!)), facts));
    it.each(['list', 'bare'])('as JSON without an event stream: %s', async form => {
      for (const way of ['whole', 'in one-byte pieces', 'with CRLF']) expectFacts(await replay(WAYS[way]!(bodiesOf(file)[form]!)), facts);
    });
  });

  test('there are some of the Interactions API', () => expect(interactions.length).toBeGreaterThanOrEqual(2));
  describe.each(interactions)('%s', (file, { facts }) => {
    const wanted = facts as unknown as InteractionFacts;
    const lines = readFileSync(root + file, 'utf8').split('\n');
    const events: WireEvent[] = lines.flatMap(line => (line.trim() === '' ? [] : [JSON.parse(line)]));
    it('is what the facts are about', () => {
      expect(events).toHaveLength(wanted.events);
      expect([...new Set(events.map(event => event.event_type))].sort()).toEqual(wanted.event_types);
    });
    // The answer is read by what it is, whichever API was asked.
    describe.each(['interactions', 'generate-content'] as const)('asked by %s', api => {
      it.each(Object.keys(WAYS))('%s', async way =>
        expectInteraction(await replay(WAYS[way]!(bodiesOf(file).events!), { api }), events, wanted),
      );
    });
  });

  it.each(Object.keys(WAYS))('the logged exchange of streamed arguments %s', async way => {
    const { interactions } = JSON.parse(readFileSync(root + logged!, 'utf8'));
    const body = interactions[0].response.bodySegments.map((chunk: unknown) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    const result = await replay(WAYS[way]!(body));
    const args = { country: 'USA', location: 'NewYorkCity', purpose: 'to know what to wear today', unit: 'C' };
    expect(result.calls.map(call => [call.name, call.rawArguments])).toEqual([['getCurrentWeather', JSON.stringify(args)]]);
    expect(signaturesIn(result.calls)).toBe(1);
    expect([result.finish, result.raw, result.warnings]).toEqual(['tool_calls', 'STOP', []]);
    expect(result.usage).toEqual({ inputTokens: 36, outputTokens: 126, totalTokens: 162, reasoningTokens: 93 });
  });
});
