import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { AudioError, type BitDepth, type Encoding, parseWav, readWav, toMono, writeWav } from '@antiphon/speech';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** Largest error of one sample, as a share of full scale; the top code of an integer is one step below 1. */
const formats: readonly [BitDepth, Encoding, number][] = [
  [8, 'int8', 1 / 128],
  [16, 'int16', 1 / 32768],
  [24, 'int24', 1 / 8388608],
  // A Float32Array has 24 bits itself.
  [32, 'int32', 1 / 8388608],
  ['32f', 'float32', 0],
  ['64f', 'float64', 0],
];

const rates = [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000];

describe('WAV round trip', () => {
  for (const [bitDepth, encoding, step] of formats) {
    for (const channelCount of [1, 2, 3, 6]) {
      it(`${encoding}, ${channelCount} channels`, () => {
        const channels = Array.from({ length: channelCount }, (_, c) => Float32Array.of(0, 0.5, -0.5, 1, -1, 0.001 * (c + 1), -0.123));
        const wav = parseWav(writeWav({ channels, sampleRate: 44_100, bitDepth }));
        expect(wav).toMatchObject({ sampleRate: 44_100, encoding, warnings: [], seconds: 7 / 44_100 });
        expect(wav.channels).toHaveLength(channelCount);
        for (const [c, samples] of wav.channels.entries()) {
          for (const [i, sample] of samples.entries()) expect(Math.abs(sample - channels[c]![i]!)).toBeLessThanOrEqual(step);
        }
      });
    }
  }

  it('holds for any samples, rate and depth, within one step of quantisation', () => {
    const sample = fc.float({ min: -1, max: 1, noNaN: true });
    const input = fc.record({
      format: fc.constantFrom(...formats),
      sampleRate: fc.constantFrom(...rates),
      frames: fc.array(fc.tuple(sample, sample), { minLength: 1, maxLength: 200 }),
    });
    fc.assert(
      fc.property(input, ({ format: [bitDepth, , step], sampleRate, frames }) => {
        const channels = [0, 1].map(c => Float32Array.from(frames, frame => frame[c]!));
        const wav = parseWav(writeWav({ channels, sampleRate, bitDepth }));
        expect(wav.sampleRate).toBe(sampleRate);
        for (const [c, samples] of wav.channels.entries()) {
          for (const [i, value] of samples.entries()) expect(Math.abs(value - channels[c]![i]!)).toBeLessThanOrEqual(step);
        }
      }),
    );
  });

  it('clips integers at full scale and writes what is not a number as silence', () => {
    const wav = parseWav(writeWav({ samples: Float32Array.of(2, -2, Number.NaN, Number.POSITIVE_INFINITY), sampleRate: 16_000 }));
    expect([...wav.channels[0]!]).toEqual([32767 / 32768, -1, 0, 32767 / 32768]);
  });

  it('keeps floats beyond full scale', () => {
    const wav = parseWav(writeWav({ samples: Float32Array.of(2, -3.5), sampleRate: 16_000, bitDepth: '32f' }));
    expect([...wav.channels[0]!]).toEqual([2, -3.5]);
  });

  it('takes an hour in one piece', () => {
    const samples = new Float32Array(16_000 * 3600);
    samples[samples.length - 1] = 0.5;
    const wav = parseWav(writeWav({ samples, sampleRate: 16_000 }));
    expect(wav.seconds).toBe(3600);
    expect(wav.channels[0]!.at(-1)).toBe(0.5);
  });
});

/** A WAV file put together by hand: chunks of [id, content, declared size]. */
function riff(chunks: readonly (readonly [id: string, content: Uint8Array, size?: number])[], form = 'RIFF'): Uint8Array {
  const parts = [Buffer.from(`${form}\0\0\0\0WAVE`, 'latin1')];
  for (const [id, content, size = content.length] of chunks) {
    const head = Buffer.alloc(8);
    head.write(id, 'latin1');
    head.writeUInt32LE(size, 4);
    parts.push(head, Buffer.from(content), Buffer.alloc(content.length % 2));
  }
  return Buffer.concat(parts);
}

function fmt(code: number, channels: number, rate: number, bits: number, extra: readonly number[] = []): Uint8Array {
  const chunk = Buffer.alloc(16 + extra.length);
  chunk.writeUInt16LE(code, 0);
  chunk.writeUInt16LE(channels, 2);
  chunk.writeUInt32LE(rate, 4);
  // Byte rate and frame size (offsets 8 and 12) stay 0: readers must not depend on them.
  chunk.writeUInt16LE(bits, 14);
  chunk.set(extra, 16);
  return chunk;
}

function pcm16(...samples: number[]): Uint8Array {
  return new Uint8Array(Int16Array.from(samples).buffer);
}

const mono16 = fmt(1, 1, 16_000, 16);

describe('WAV files of other makers', () => {
  it('have chunks before the sound, padded when odd', () => {
    const bytes = riff([
      ['LIST', Buffer.from('INFOISFT\x05\0\0\0Lavf\0', 'latin1')],
      ['junk', new Uint8Array(3)],
      ['fmt ', mono16],
      ['fact', new Uint8Array(4)],
      ['data', pcm16(1, -1, 16384)],
      ['id3 ', new Uint8Array(7)],
    ]);
    const wav = parseWav(bytes);
    expect([...wav.channels[0]!]).toEqual([1 / 32768, -1 / 32768, 0.5]);
    expect(wav.warnings).toEqual([]);
  });

  it('have an extensible header', () => {
    const subformat = [22, 0, 16, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113];
    const wav = parseWav(
      riff([
        ['fmt ', fmt(0xfffe, 1, 48_000, 16, subformat)],
        ['data', pcm16(8192)],
      ]),
    );
    expect(wav).toMatchObject({ sampleRate: 48_000, encoding: 'int16' });
    expect([...wav.channels[0]!]).toEqual([0.25]);
  });

  it.each([0, 0xffffffff])('were streamed, so that the length stands as %i', size => {
    const wav = parseWav(
      riff([
        ['fmt ', mono16],
        ['data', pcm16(1, 2, 3), size],
      ]),
    );
    expect(wav.channels[0]).toHaveLength(3);
    expect(wav.warnings).toEqual([expect.stringContaining('not filled in')]);
  });

  it('are RF64, with the true length in ds64', () => {
    const sizes = Buffer.alloc(28);
    sizes.writeBigUInt64LE(4n, 8);
    const wav = parseWav(
      riff(
        [
          ['ds64', sizes],
          ['fmt ', mono16],
          ['data', pcm16(1, 2, 3), 0xffffffff],
        ],
        'RF64',
      ),
    );
    expect(wav.channels[0]).toHaveLength(2);
    expect(wav.warnings).toEqual([]);
  });

  it('were cut short', () => {
    const whole = writeWav({ samples: new Float32Array(1000).fill(0.5), sampleRate: 16_000 });
    const wav = parseWav(whole.subarray(0, 44 + 501));
    expect(wav.channels[0]).toHaveLength(250);
    expect(wav.warnings).toEqual([expect.stringContaining('501 of 2000 bytes'), expect.stringContaining('incomplete')]);
  });

  it('hold floats that are not numbers', () => {
    const data = new Uint8Array(Float32Array.of(0.25, Number.NaN, Number.POSITIVE_INFINITY).buffer);
    const wav = parseWav(
      riff([
        ['fmt ', fmt(3, 1, 16_000, 32)],
        ['data', data],
      ]),
    );
    expect([...wav.channels[0]!]).toEqual([0.25, 0, 0]);
    expect(wav.warnings).toEqual([expect.stringContaining('2 samples are not numbers')]);
  });

  // ITU-T G.711: code words of the largest, smallest and silent values.
  it.each([
    ['mulaw', 7, [0xff, 0x7f, 0x80, 0x00], [0, 0, 8031 / 8192, -8031 / 8192]],
    ['alaw', 6, [0xd5, 0x55, 0xaa, 0x2a], [1 / 4096, -1 / 4096, 4032 / 4096, -4032 / 4096]],
  ] as const)('are %s', (encoding, code, bytes, expected) => {
    const wav = parseWav(
      riff([
        ['fmt ', fmt(code, 1, 8_000, 8)],
        ['data', Uint8Array.from(bytes)],
      ]),
    );
    expect(wav.encoding).toBe(encoding);
    for (const [i, value] of expected.entries()) expect(wav.channels[0]![i]).toBeCloseTo(value, 6);
  });

  it('are silent, which is sound too', () => {
    const wav = parseWav(writeWav({ samples: new Float32Array(160), sampleRate: 16_000 }));
    expect(wav.channels[0]!.every(sample => sample === 0)).toBe(true);
  });
});

const bad: readonly [what: string, bytes: Uint8Array, reason: string, text: RegExp][] = [
  ['an empty file', new Uint8Array(0), 'empty', /empty/],
  ['text', Buffer.from('<!doctype html><title>404</title>'), 'not_wav', /not a WAV.*ffmpeg/],
  ['an MP3', Buffer.from('ID3\x04\0\0\0\0\0\0\0\0', 'latin1'), 'not_wav', /MP3/],
  ['an Ogg', Buffer.from('OggS\0\0\0\0\0\0\0\0', 'latin1'), 'not_wav', /Ogg/],
  ['a FLAC', Buffer.from('fLaC\0\0\0\0\0\0\0\0', 'latin1'), 'not_wav', /FLAC/],
  ['an M4A', Buffer.from('\0\0\0\x20ftypM4A ', 'latin1'), 'not_wav', /M4A/],
  ['another RIFF', Buffer.from('RIFF\0\0\0\0AVI LIST', 'latin1'), 'not_wav', /not a WAV/],
  ['a few bytes', Buffer.from('RIFF'), 'not_wav', /not a WAV/],
  ['a bare RIFF header', riff([]), 'damaged', /nothing about its format/],
  ['a header without sound', riff([['fmt ', mono16]]), 'empty', /no sound/],
  [
    'a header with no samples',
    riff([
      ['fmt ', mono16],
      ['data', new Uint8Array(0)],
    ]),
    'empty',
    /no sound/,
  ],
  [
    'less than one frame',
    riff([
      ['fmt ', mono16],
      ['data', new Uint8Array(1)],
    ]),
    'empty',
    /no sound/,
  ],
  [
    'no channels',
    riff([
      ['fmt ', fmt(1, 0, 16_000, 16)],
      ['data', pcm16(1)],
    ]),
    'damaged',
    /0 channels/,
  ],
  [
    '60000 channels',
    riff([
      ['fmt ', fmt(1, 60_000, 16_000, 16)],
      ['data', pcm16(1)],
    ]),
    'damaged',
    /60000 channels/,
  ],
  [
    'no rate',
    riff([
      ['fmt ', fmt(1, 1, 0, 16)],
      ['data', pcm16(1)],
    ]),
    'damaged',
    /0 Hz/,
  ],
  [
    'an absurd rate',
    riff([
      ['fmt ', fmt(1, 1, 4_000_000_000, 8)],
      ['data', pcm16(1)],
    ]),
    'damaged',
    /4000000000 Hz/,
  ],
  [
    'a short format',
    riff([
      ['fmt ', new Uint8Array(10)],
      ['data', pcm16(1)],
    ]),
    'damaged',
    /10 bytes/,
  ],
  ['a format cut off', riff([['fmt ', new Uint8Array(4), 16]]), 'damaged', /bytes/],
  [
    'ADPCM',
    riff([
      ['fmt ', fmt(2, 1, 16_000, 4)],
      ['data', pcm16(1)],
    ]),
    'unsupported',
    /format 2 with 4 bits.*ffmpeg/,
  ],
  [
    'no bits',
    riff([
      ['fmt ', fmt(1, 1, 16_000, 0)],
      ['data', pcm16(1)],
    ]),
    'unsupported',
    /0 bits/,
  ],
  [
    'MP3 inside',
    riff([
      ['fmt ', fmt(0x55, 1, 16_000, 0)],
      ['data', pcm16(1)],
    ]),
    'unsupported',
    /format 85/,
  ],
];

describe('What is no WAV file', () => {
  it.each(bad)('%s', (_what, bytes, reason, text) => {
    const error = thrownBy(() => parseWav(bytes, 'a.wav'));
    expect(error).toBeInstanceOf(AudioError);
    expect(error).toMatchObject({ reason, message: expect.stringMatching(text) });
    expect((error as Error).message).not.toContain('\n');
  });

  it('never takes much memory, whatever the header says', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 36, maxLength: 80 }), junk => {
        const bytes = Buffer.concat([Buffer.from('RIFF\xff\xff\xff\xffWAVEfmt ', 'latin1'), junk]);
        try {
          const wav = parseWav(bytes);
          expect(wav.channels.length * (wav.channels[0]?.length ?? 0)).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(AudioError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('any cut of a good file gives its beginning or an AudioError', () => {
    const whole = writeWav({ channels: [new Float32Array(50), new Float32Array(50)], sampleRate: 16_000, bitDepth: 24 });
    for (let length = 0; length < whole.length; length++) {
      try {
        expect(parseWav(whole.subarray(0, length)).warnings.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(AudioError);
      }
    }
  });

  it('a file that is not there, or a folder', async () => {
    const folder = await mkdtemp(joinPath(tmpdir(), 'wav-'));
    await expect(readWav(joinPath(folder, 'no.wav'))).rejects.toMatchObject({
      reason: 'not_found',
      message: expect.stringMatching(/no such file.*no\.wav/),
    });
    await expect(readWav(folder)).rejects.toMatchObject({ reason: 'not_found', message: expect.stringMatching(/folder/) });
    await writeFile(joinPath(folder, 'x.wav'), 'hello');
    await expect(readWav(joinPath(folder, 'x.wav'))).rejects.toMatchObject({ reason: 'not_wav', message: expect.stringMatching(/x\.wav/) });
    await rm(folder, { recursive: true });
  });
});

describe('writeWav refuses', () => {
  const samples = new Float32Array(4);
  it.each([
    [{ samples, sampleRate: 0 }, /0 Hz/],
    [{ samples, sampleRate: 44_100.5 }, /44100\.5 Hz/],
    [{ samples, sampleRate: Number.NaN }, /NaN Hz/],
    [{ samples, sampleRate: 16_000, bitDepth: 12 as BitDepth }, /bit depth of 12/],
    [{ channels: [], sampleRate: 16_000 }, /0 channels/],
    [{ channels: [samples, new Float32Array(3)], sampleRate: 16_000 }, /differ in length/],
  ])('%o', (input, text) => {
    expect(thrownBy(() => writeWav(input))).toMatchObject({ name: 'AudioError', reason: 'invalid', message: expect.stringMatching(text) });
  });
});

describe('toMono', () => {
  it('is the average of the channels', () => {
    expect([...toMono({ channels: [Float32Array.of(1, 0), Float32Array.of(0, -1)] })]).toEqual([0.5, -0.5]);
  });

  it('is the channel itself for mono, and nothing for none', () => {
    const samples = Float32Array.of(1, 2);
    expect(toMono({ channels: [samples] })).toBe(samples);
    expect(toMono({ channels: [] })).toHaveLength(0);
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
