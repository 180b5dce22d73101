// Streams recorded from servers of the Responses API, with the facts that a correct client gets from them; kept beside the repository.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { type Message, toolResult, user } from '@antiphon/engine';
import { openaiResponses } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { answering, bytesOf, type Item, messageOf, prepare, read } from './support/responses-wire.js';
import { run } from './support/run.js';

type Text = string | { chars: number; utf8_sha256: string };
interface Facts {
  protocol?: string;
  response_id?: string;
  model?: string;
  text?: Text;
  reasoning?: Text;
  tool_calls?: { id: string; name: string; arguments: string }[];
  output_items?: string[];
  distinct_sources?: string[];
  status?: string;
  finish?: string;
  usage?: { input: number; cache_read: number; output: number; reasoning: number; raw_total: number };
  responses?: Facts[];
  exchanges?: { uri: string; items?: string[]; usage: NonNullable<Facts['usage']> }[];
}

const root = fileURLToPath(new URL('../../../../shared/streams/', import.meta.url));
const present = existsSync(`${root}facts.json`);
if (!present) console.log('skipped: the recorded streams are not beside this checkout');
const all: Record<string, { facts: Facts }> = present ? JSON.parse(readFileSync(`${root}facts.json`, 'utf8')) : {};
const streams = Object.entries(all).filter(([, { facts }]) => facts.protocol === 'openai responses');
const cassettes = Object.entries(all).filter(([, { facts }]) => facts.exchanges?.[0]?.uri === '/v1/responses');

/** The answers in a recording: a new one begins with each `response.created`. */
function answersOf(file: string, facts: Facts): { lines: string[]; facts: Facts }[] {
  const answers: string[][] = [];
  for (const line of readFileSync(root + file, 'utf8').split('\n')) {
    if (line.trim() === '') continue;
    if (line.slice(0, 200).includes('"response.created"') || answers.length === 0) answers.push([]);
    answers.at(-1)!.push(line);
  }
  // Some writers put the type last.
  return facts.responses ? facts.responses.map((own, i) => ({ lines: answers[i]!, facts: own })) : [{ lines: answers.flat(), facts }];
}

const WAYS: Record<string, (body: string) => Uint8Array[]> = {
  whole: body => [bytesOf(body)],
  'in one-byte pieces': body => Array.from(bytesOf(body), byte => Uint8Array.of(byte)),
  'split in each multi-byte character': body => {
    const bytes = bytesOf(body);
    const cuts = [...bytes.keys()].filter(i => (bytes[i]! & 0xc0) === 0x80);
    return [0, ...cuts].map((from, i) => bytes.subarray(from, cuts[i] ?? bytes.length));
  },
  'with CRLF': body => [bytesOf(body.replaceAll('\n', '\r\n'))],
  'with comments between events': body => [bytesOf(body.replaceAll('\n\n', '\n\n: ping\n\n'))],
};

function expectText(actual: string, expected: Text = ''): void {
  if (typeof expected === 'string') expect(actual).toBe(expected);
  else expect([actual.length, createHash('sha256').update(actual).digest('hex')]).toEqual([expected.chars, expected.utf8_sha256]);
}

function usageOf(usage: NonNullable<Facts['usage']>) {
  const { input, output, raw_total, cache_read, reasoning } = usage;
  return { inputTokens: input, outputTokens: output, totalTokens: raw_total, cachedInputTokens: cache_read, reasoningTokens: reasoning };
}

/** Items as they were when they were done; JSON text, because the order of fields counts too. */
function doneItems(lines: readonly string[]): Item[] {
  return lines.flatMap(line => {
    const event = tryParse(line);
    return event?.type === 'response.output_item.done' ? [event.item] : [];
  });
}

/** That client wrote arguments anew, with other spaces. */
function sameArguments(item: Item): Item {
  return typeof item.arguments === 'string' ? { ...item, arguments: JSON.parse(item.arguments) } : item;
}

function tryParse(line: string) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** What this server would refuse to see again: reasoning that it neither stored nor gave encrypted, and the ids that rest on it. */
function acceptable(items: readonly Item[], isStored: boolean): string[] {
  const lost = (item: Item) => item.type === 'reasoning' && !item.encrypted_content && !isStored;
  return items
    .filter(item => !lost(item))
    .map(item => (items.some(lost) ? { ...item, id: undefined } : item))
    .map(item => JSON.stringify(item));
}

describe.skipIf(!present)('recorded streams', () => {
  it('are all there', () => expect([streams.length, cassettes.length]).toEqual([13, 2]));

  describe.each(streams)('%s', (file, { facts }) => {
    for (const [i, { lines, facts: want }] of (present ? answersOf(file, facts) : []).entries()) {
      const body = lines.map(line => `data: ${line}\n\n`).join('');
      const broken = lines.filter(line => tryParse(line) === undefined).length;

      it.each(Object.keys(WAYS))(`answer ${i + 1} %s`, async way => {
        const result = await read(WAYS[way]!(body));
        expect(result.error).toBeUndefined();
        const told = result.warnings.map(warning => warning.code);
        const asked = want.output_items?.includes('mcp_approval_request') ? ['other'] : [];
        expect(told).toEqual([...Array(broken).fill('malformed_event'), ...asked]);
        expectText(result.text, want.text);
        expectText(result.reasoning, want.reasoning);
        expect(result.calls.map(({ id, name, rawArguments }) => ({ id, name, arguments: rawArguments }))).toEqual(want.tool_calls ?? []);
        expect(result.calls.filter(call => call.invalid)).toEqual([]);
        expect(result.finish).toBe(want.finish?.replace('-', '_'));
        expect(result.raw).toBe(want.status ?? 'completed');
        expect([result.responseId, result.model]).toEqual([want.response_id, want.model]);
        expect(result.sources.map(source => source.url ?? source.title)).toEqual(want.distinct_sources ?? []);
        const { cacheWriteTokens: _, ...usage } = result.usage!;
        expect(usage).toEqual(want.usage === undefined ? {} : usageOf(want.usage));
      });

      it(`answer ${i + 1} goes back byte for byte`, async () => {
        const { events } = await read(body);
        const isStored = lines.some(line => tryParse(line)?.response?.store === true);
        const items = doneItems(lines);
        const { body: sent } = await prepare({ messages: [messageOf(events)] });
        expect(sent.input.map(item => JSON.stringify(item))).toEqual(acceptable(items, isStored));
        expect(items.map(item => item.type)).toEqual(want.output_items?.map(kind => kind.split(' ')[0]));
      });
    }
  });

  describe.each(cassettes)('%s', (file, { facts }) => {
    const text = present ? readFileSync(root + file, 'utf8') : '';
    const answers = [...text.matchAll(/string: !!binary \|\n((?: {8}.*\n)+)/g)].map(match =>
      gunzipSync(Buffer.from(match[1]!, 'base64')).toString(),
    );
    const requests = [...text.matchAll(/- request:\n {4}body: '((?:[^']|'')*)'\n/g)].map(match =>
      JSON.parse(match[1]!.replaceAll(/\n\s*/g, ' ').replaceAll("''", "'")),
    );

    it('tells what each answer says, though none is a stream', async () => {
      expect(answers.length).toBe(facts.exchanges!.length);
      for (const [i, answer] of answers.entries()) {
        const result = await read(answer, undefined, 'application/json');
        const want = facts.exchanges![i]!;
        expect(result.error).toBeUndefined();
        expect(result.warnings).toEqual([]);
        expect(result.usage).toEqual(usageOf(want.usage));
        const { body } = await prepare({ messages: [messageOf(result.events)] });
        const output = (JSON.parse(answer) as { output: Item[] }).output;
        expect(body.input.length === 0 ? [] : body.input.map(item => item.type)).toEqual(want.items);
        expect(body.input.map(item => JSON.stringify(item))).toEqual(output.map(item => JSON.stringify(item)));
      }
    });

    it('sends what the recording client sent, with the ids that it left out', async () => {
      const messages: Message[] = [user(requests[0].input[0].content)];
      for (const [i, answer] of answers.slice(0, -1).entries()) {
        const { events } = await run(openaiResponses({ model: 'm', apiKey: 'k', fetch: answering(answer, { type: 'application/json' }) }));
        messages.push(messageOf(events));
        const outputs = (requests[i + 1].input as Item[]).filter(item => item.type === 'function_call_output');
        const known = new Set(messages.flatMap(message => (message.role === 'tool' ? [message.callId] : [])));
        for (const item of outputs.filter(item => !known.has(String(item.call_id))))
          messages.push(toolResult(String(item.call_id), String(item.output)));
        const { body } = await prepare({ messages });
        expect(body.input.map(sameArguments)).toMatchObject(requests[i + 1].input.map(sameArguments));
      }
    });
  });
});
