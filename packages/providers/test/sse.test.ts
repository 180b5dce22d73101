import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser } from '../src/http/sse.js';
import { LINEAR, smallestGrowth } from './support/growth.js';

function parse(pieces: (string | Uint8Array)[], maxChars?: number): string[] {
  const seen: string[] = [];
  const parser = new SseParser(
    {
      onEvent: (data, event) => seen.push(event === '' ? data : `${event}|${data}`),
      onStray: line => seen.push(`stray ${line}`),
      onOverflow: () => seen.push('overflow'),
    },
    maxChars === undefined ? {} : { maxChars },
  );
  for (const piece of pieces) parser.feed(piece);
  parser.end();
  return seen;
}

describe('SSE parser', () => {
  it.each<[string, string, string[]]>([
    ['two events', 'data: a\n\ndata: b\n\n', ['a', 'b']],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
    ['CR only', 'data: a\r\rdata: b\r\r', ['a', 'b']],
    ['mixed line ends', 'data: a\r\n\ndata: b\r\r\ndata: c\n\r', ['a', 'b', 'c']],
    ['byte order mark', '\ufeffdata: a\n\n', ['a']],
    ['comments', ': hi\n\ndata: a\n: hi\n\n:\n\n', ['a']],
    ['comment inside an event', 'data: a\n: hi\ndata: b\n\n', ['a\nb']],
    ['no space after the colon', 'data:a\n\n', ['a']],
    ['only one space belongs to the syntax', 'data:  a\n\n', [' a']],
    ['several data lines', 'data: a\ndata: b\ndata:\n\n', ['a\nb\n']],
    ['no final blank line', 'data: a\n\ndata: b\n', ['a', 'b']],
    ['no final line end', 'data: a\n\ndata: b', ['a', 'b']],
    ['empty data', 'data:\n\ndata: a\n\ndata\n\n', ['a']],
    ['named event', 'event: ping\ndata: a\n\ndata: b\n\n', ['ping|a', 'b']],
    ['a name without data is no event', 'event: ping\n\ndata: b\n\n', ['b']],
    ['id and retry', 'id: 1\nretry: 3\nid\ndata: a\n\n', ['a']],
    ['padding before a field', '   data: a\n\n', ['a']],
    ['a line that is no field', '{"error":"x"}\n', ['stray {"error":"x"}']],
    ['fields named like inherited ones', '__proto__: a\nconstructor: b\ndata: c\n\n', ['stray __proto__: a', 'stray constructor: b', 'c']],
    ['nothing', '', []],
    ['blank lines only', '\n\n\r\n\r\r', []],
  ])('%s', (_, text, expected) => {
    expect(parse([text])).toEqual(expected);
  });

  it('stops where it is told to', () => {
    const seen: string[] = [];
    const parser: SseParser = new SseParser({
      onEvent: data => {
        seen.push(data);
        parser.stop();
      },
    });
    parser.feed('data: a\n\ndata: b\n\n');
    parser.feed('data: c\n\n');
    parser.end();
    expect(seen).toEqual(['a']);
  });

  it('gives up on an event that outgrows the bound, whether in one line or many', () => {
    expect(parse([`data: ${'x'.repeat(200)}\n\n`, 'data: a\n\n'], 100)).toEqual(['overflow']);
    expect(parse([`data: ${'x'.repeat(200)}`, 'data: a\n\n'], 100)).toEqual(['overflow']);
    expect(parse(['data: xxxxxxxxxxxxxxxxxxx\n'.repeat(20)], 100)).toEqual(['overflow']);
  });

  // A stream of lines with every kind of line end, cut anywhere.
  const line = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }).map(text => `data: ${text.replace(/[\r\n]/g, '')}`),
    fc.constantFrom('', '', ': comment', 'event: e', 'id: 1', '{"stray":1}', 'data', 'data:é中😀'),
  );
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 20 }).map(lines => lines.flat().join(''));

  it('reads the same events however the bytes are cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200)), (text, cuts) => {
        const bytes = new TextEncoder().encode(text);
        const places = [...new Set(cuts.map(cut => Math.min(cut, bytes.length)))].sort((a, b) => a - b);
        const pieces = [...places, bytes.length].map((end, i) => bytes.subarray(places[i - 1] ?? 0, end));
        const whole = parse([bytes]);
        expect(parse(pieces)).toEqual(whole);
        expect(parse(Array.from(bytes, byte => Uint8Array.of(byte)))).toEqual(whole);
        expect(parse([...text.split('')])).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });

  it('reads the same events whatever the line end', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), lines => {
        const [lf, crlf, cr] = ['\n', '\r\n', '\r'].map(end => parse([lines.map(text => text + end).join('')]));
        expect(crlf).toEqual(lf);
        expect(cr).toEqual(lf);
      }),
    );
  });

  it.each<[string, (n: number) => Uint8Array[]]>([
    ['one huge event in 16-byte pieces', n => cut(encode(`data: ${'x'.repeat(n * 16)}\n\n`), 16)],
    ['one huge event in 1-byte pieces', n => cut(encode(`data: ${'x'.repeat(n)}\n\n`), 1)],
    ['one event of many lines', n => [encode(`${'data: xy\n'.repeat(n)}\n`)]],
    ['many events in one piece', n => [encode('data: xy\n\n'.repeat(n))]],
    ['many CR lines in one piece', n => [encode('data: xy\r\r'.repeat(n))]],
    ['many LF lines behind one CR', n => [encode(`${'data: xy\n\n'.repeat(n)}\r`)]],
  ])('takes linear time: %s', async (_, make) => {
    const [small, large] = [make(10_000), make(80_000)];
    expect(
      await smallestGrowth(
        () => parse(small),
        () => parse(large),
      ),
    ).toBeLessThan(LINEAR);
  });
});

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}
