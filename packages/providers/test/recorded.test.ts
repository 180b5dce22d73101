// Streams recorded from real providers, with the facts that a correct client gets from them; they are kept beside the repository.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openaiChat } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { type Run, run } from './support/run.js';

type Text = string | { chars: number; utf8_sha256: string };
interface Facts {
  protocol?: string;
  id?: string[];
  model?: string;
  text?: Text;
  reasoning?: Text;
  tool_calls?: { id: string; name: string; arguments: string }[];
  finish_raw?: string;
  finish?: string;
  usage?: { input: number; cache_read: number | null; output: number; reasoning: number | null; raw_total: number };
  sources?: string[];
  responses?: Facts[];
}

const root = fileURLToPath(new URL('../../../../shared/streams/', import.meta.url));
const present = existsSync(`${root}facts.json`);
if (!present) console.log('skipped: the recorded streams are not beside this checkout');
const all: Record<string, { facts: Facts }> = present ? JSON.parse(readFileSync(`${root}facts.json`, 'utf8')) : {};
const mine = Object.entries(all).filter(([, { facts }]) => /^openai (chat|completions)/.test(facts.protocol ?? ''));

/** A recording as the answers in it: the wire text of each, and its facts. */
function answersOf(file: string, facts: Facts): { body: string; type: string; facts: Facts }[] {
  const content = readFileSync(root + file, 'utf8');
  if (file.endsWith('.json')) return [{ body: content, type: 'application/json', facts }];
  if (file.endsWith('.sse')) return [{ body: content, type: 'text/event-stream', facts }];
  const lines = content.split('\n').filter(line => line.trim() !== '');
  const parts = facts.responses
    ? facts.responses.map(response => ({ facts: response, lines: lines.filter(line => response.id?.includes(JSON.parse(line).id)) }))
    : [{ facts, lines }];
  return parts.map(part => ({
    body: `${part.lines.map(line => `data: ${line}\n\n`).join('')}data: [DONE]\n\n`,
    type: 'text/event-stream',
    facts: part.facts,
  }));
}

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

function replay(pieces: Uint8Array[], type: string): Promise<Run> {
  const fetch = async () => {
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces[next++];
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': type } });
  };
  return run(openaiChat({ model: 'm', fetch }));
}

function expectText(actual: string, expected: Text | undefined): void {
  if (expected === undefined) expect(actual).toBe('');
  else if (typeof expected === 'string') expect(actual).toBe(expected);
  else expect([actual.length, createHash('sha256').update(actual).digest('hex')]).toEqual([expected.chars, expected.utf8_sha256]);
}

describe.skipIf(!present)('recorded streams', () => {
  describe.each(mine)('%s', (file, { facts }) => {
    for (const [i, answer] of (present ? answersOf(file, facts) : []).entries()) {
      // A body that is one JSON value has no events to put anything between.
      const ways = answer.type === 'application/json' ? ['whole', 'in one-byte pieces'] : Object.keys(WAYS);
      it.each(ways)(`answer ${i + 1} %s`, async way => {
        const result = await replay(WAYS[way]!(answer.body), answer.type);
        const want = answer.facts;
        expect(result.error).toBeUndefined();
        expect(result.warnings).toEqual([]);
        expectText(result.text, want.text);
        expectText(result.reasoning, want.reasoning === '' ? undefined : want.reasoning);
        expect(result.calls.map(({ id, name, rawArguments }) => ({ id, name, arguments: rawArguments }))).toEqual(want.tool_calls ?? []);
        expect(result.raw).toBe(want.finish_raw);
        expect(result.finish).toBe(want.finish?.replace('-', '_'));
        if (want.model !== undefined) expect(result.model).toBe(want.model);
        if (want.id !== undefined) expect(result.responseId).toBe(want.id[0]);
        if (want.sources !== undefined) expect(result.sources.map(source => source.url)).toEqual(want.sources);
        const { usage } = want;
        expect(result.usage).toEqual(
          usage === undefined
            ? {}
            : {
                inputTokens: usage.input,
                outputTokens: usage.output,
                totalTokens: usage.raw_total,
                ...(usage.cache_read === null ? {} : { cachedInputTokens: usage.cache_read }),
                ...(usage.reasoning === null ? {} : { reasoningTokens: usage.reasoning }),
              },
        );
      });
    }
  });
});
