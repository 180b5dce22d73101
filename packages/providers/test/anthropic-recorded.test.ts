// Streams recorded from Anthropic, with the facts that a correct client gets from them; they are kept beside the repository. Each is also sent
// back as history: the blocks on the wire must be those that the model gave.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { user } from '@antiphon/engine';
import { anthropic } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { blocksOf, messageOf, type WireBlock } from './support/anthropic-wire.js';
import { contextOf, type Run, run } from './support/run.js';

type Text = string | { chars: number; utf8_sha256: string };
interface Facts {
  protocol?: string;
  message_id?: string[];
  model?: string;
  text?: Text;
  reasoning?: Text;
  tool_calls?: { id: string; name: string; arguments: string }[];
  server_tool_blocks?: string[];
  citations?: number;
  result_urls?: number;
  finish_raw?: string;
  finish?: string;
  stop_reasons?: string[];
  usage?: { input: number; cache_read: number; cache_write: number; output: number; reasoning: number | null };
}

const root = fileURLToPath(new URL('../../../../shared/streams/', import.meta.url));
const present = existsSync(`${root}facts.json`);
if (!present) console.log('skipped: the recorded streams are not beside this checkout');
const all: Record<string, { facts: Facts }> = present ? JSON.parse(readFileSync(`${root}facts.json`, 'utf8')) : {};
const mine = Object.entries(all).filter(([, { facts }]) => facts.protocol?.startsWith('anthropic '));
const SPLICED = 'anthropic/spliced-message-start.chunks.txt';

function read(file: string): string {
  const content = readFileSync(root + file, 'utf8');
  if (!file.endsWith('.chunks.txt')) return content;
  const lines = content.split('\n').filter(line => line.trim() !== '');
  return lines.map(line => `event: ${JSON.parse(line).type}\ndata: ${line}\n\n`).join('');
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

function replay(pieces: Uint8Array[], type = 'text/event-stream'): Promise<Run> {
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
  return run(anthropic({ model: 'claude-sonnet-4-5', apiKey: 'k', fetch }));
}

function expectText(actual: string, expected: Text | undefined): void {
  if (typeof expected === 'object') {
    expect([actual.length, createHash('sha256').update(actual).digest('hex')]).toEqual([expected.chars, expected.utf8_sha256]);
  } else expect(actual).toBe(expected ?? '');
}

/** The blocks of a message as they would go out in the next request. */
async function sentBack(result: Run): Promise<WireBlock[]> {
  const adapter = anthropic({ model: 'claude-sonnet-4-5', apiKey: 'k' });
  const request = { messages: [user('Go on.'), messageOf(result.events)] };
  const { body } = await adapter.prepare!(request, contextOf());
  return JSON.parse(body).messages[1].content;
}

describe.skipIf(!present)('recorded streams', () => {
  const good = mine.filter(([file]) => file !== SPLICED);
  it('are all there', () => expect(mine.length).toBeGreaterThanOrEqual(17));

  describe.each(good)('%s', (file, { facts: want }) => {
    const isJson = file.endsWith('.json');
    it.each(isJson ? ['whole', 'in one-byte pieces'] : Object.keys(WAYS))('%s', async way => {
      const result = await replay(WAYS[way]!(read(file)), isJson ? 'application/json' : undefined);
      expect(result.error).toBeUndefined();
      expect(result.warnings).toEqual([]);
      expectText(result.text, want.text);
      expectText(result.reasoning, want.reasoning);
      expect(result.calls.map(({ id, name, rawArguments }) => ({ id, name, arguments: rawArguments }))).toEqual(want.tool_calls ?? []);
      expect([result.raw, result.finish]).toEqual([want.finish_raw, want.finish?.replace('-', '_')]);
      if (want.model !== undefined) expect(result.model).toBe(want.model);
      if (want.message_id !== undefined) expect(result.responseId).toBe(want.message_id[0]);
      expect(result.sources.filter(source => source.quote !== undefined).length).toBe(want.citations ?? 0);
      expect(result.sources.filter(source => source.quote === undefined && source.url !== undefined).length).toBe(want.result_urls ?? 0);
      const { usage } = result;
      expect([usage?.inputTokens, usage?.outputTokens, usage?.cachedInputTokens ?? 0, usage?.cacheWriteTokens ?? 0]).toEqual([
        want.usage?.input,
        want.usage?.output,
        want.usage?.cache_read,
        want.usage?.cache_write,
      ]);
      expect(usage?.reasoningTokens ?? null).toBe(want.usage?.reasoning);
    });

    it('goes back as it came', async () => {
      const body = read(file);
      const blocks = blocksOf(body);
      const result = await replay([encode(body)], isJson ? 'application/json' : undefined);
      expect(JSON.stringify(await sentBack(result))).toBe(JSON.stringify(blocks));
      const names = blocks
        .filter(block => /tool/.test(block.type) && block.type !== 'tool_use')
        .map(({ type, name }) => (name ? `${type}:${name}` : type));
      expect(names).toEqual(want.server_tool_blocks ?? []);
    });

    it.skipIf(isJson)('is truncated without its last event', async () => {
      const body = read(file);
      const result = await replay([encode(body.slice(0, body.lastIndexOf('event: message_stop')))]);
      expect([result.error?.reason, result.finish]).toEqual(['truncated', undefined]);
    });
  });

  it.each(Object.keys(WAYS))('two answers that were mixed up are an error, %s', async way => {
    const result = await replay(WAYS[way]!(read(SPLICED)));
    expect([result.error?.reason, result.error?.retryable, result.finish]).toEqual(['malformed_response', false, undefined]);
    expect(result.calls).toEqual([]);
    expect(result.reasoning).toBe('I will call the tool.');
  });

  it('answers in one piece, as an SDK recorded them', async () => {
    const exchanges = JSON.parse(readFileSync(`${root}other-anthropic-sdk/ToolRunner.json`, 'utf8'));
    const seen: (string | undefined)[] = [];
    for (const { response } of exchanges) {
      const result = await replay([encode(JSON.stringify(response))], 'application/json');
      expect(result.error).toBeUndefined();
      expect(JSON.stringify(await sentBack(result))).toBe(JSON.stringify(response.content));
      seen.push(result.raw);
    }
    expect(seen).toEqual(all['other-anthropic-sdk/ToolRunner.json']!.facts.stop_reasons);
  });
});
