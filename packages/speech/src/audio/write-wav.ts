import { AudioError } from '../errors.js';
import { type Encoding, sampleCodecs } from './sample-codec.js';

/** Integers of that many bits, or floats (`f`). */
export type BitDepth = 8 | 16 | 24 | 32 | '32f' | '64f';

export type WavInput = {
  /** Hz, 1 to 1 000 000. */
  readonly sampleRate: number;
  /** Default 16. */
  readonly bitDepth?: BitDepth;
} & (
  | { /** Mono, −1 to 1; beyond that integers clip. */ readonly samples: Float32Array }
  | { /** One array per channel, all of one length. */ readonly channels: readonly Float32Array[] }
);

const encodings: Readonly<Record<BitDepth, Encoding>> = {
  8: 'int8',
  16: 'int16',
  24: 'int24',
  32: 'int32',
  '32f': 'float32',
  '64f': 'float64',
};

/**
 * Makes the bytes of a WAV file. More than two channels, or more than 16 bits, get the extensible header that the format asks for.
 *
 * Throws AudioError `invalid` for a rate, depth or channels that no WAV file can hold.
 *
 * @example
 * await writeFile('reply.wav', writeWav({ samples, sampleRate: 16_000 }));
 */
export function writeWav(audio: WavInput): Uint8Array {
  const channels = 'channels' in audio ? audio.channels : [audio.samples];
  const bitDepth = audio.bitDepth ?? 16;
  const encoding = encodings[bitDepth];
  assertWritable(channels, audio.sampleRate, encoding, bitDepth);
  const frames = channels[0]!.length;
  const codec = sampleCodecs[encoding];
  const frameBytes = codec.bytes * channels.length;
  const dataBytes = frames * frameBytes;
  const extensible = channels.length > 2 || codec.bytes > 2;
  const float = encoding === 'float32' || encoding === 'float64';
  const formatBytes = extensible ? 40 : 16;
  const headerBytes = 12 + 8 + formatBytes + (float ? 12 : 0) + 8;
  if (headerBytes + dataBytes > 0xffffffff) {
    throw new AudioError('invalid', 'A WAV file cannot be larger than 4 GB.', 'Write it in parts, or with fewer bits or channels.');
  }
  const bytes = new Uint8Array(headerBytes + dataBytes + (dataBytes % 2));
  const view = new DataView(bytes.buffer);
  let at = 0;
  const text = (value: string) => {
    for (const letter of value) view.setUint8(at++, letter.charCodeAt(0));
  };
  const u16 = (value: number) => {
    view.setUint16(at, value, true);
    at += 2;
  };
  const u32 = (value: number) => {
    view.setUint32(at, value, true);
    at += 4;
  };
  const code = float ? 3 : 1;
  text('RIFF');
  u32(bytes.length - 8);
  text('WAVEfmt ');
  u32(formatBytes);
  u16(extensible ? 0xfffe : code);
  u16(channels.length);
  u32(audio.sampleRate);
  u32(audio.sampleRate * frameBytes);
  u16(frameBytes);
  u16(codec.bytes * 8);
  if (extensible) {
    u16(22);
    u16(codec.bytes * 8);
    // No claim about which loudspeaker a channel belongs to, except for plain mono and stereo.
    u32(channels.length === 1 ? 4 : channels.length === 2 ? 3 : 0);
    u16(code);
    // The rest of the subformat's GUID: 0000-0010-8000-00AA00389B71.
    for (const byte of [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]) view.setUint8(at++, byte);
  }
  if (float) {
    text('fact');
    u32(4);
    u32(frames);
  }
  text('data');
  u32(dataBytes);
  for (const [channel, samples] of channels.entries()) {
    for (let frame = 0, to = at + channel * codec.bytes; frame < frames; frame++, to += frameBytes) codec.write(view, to, samples[frame]!);
  }
  return bytes;
}

function assertWritable(channels: readonly Float32Array[], sampleRate: number, encoding: Encoding | undefined, bitDepth: unknown): void {
  const invalid = (message: string, hint: string) => new AudioError('invalid', message, hint);
  if (encoding === undefined) throw invalid(`A bit depth of ${String(bitDepth)} is not supported.`, "Use 8, 16, 24, 32, '32f' or '64f'.");
  if (!Number.isInteger(sampleRate) || sampleRate < 1 || sampleRate > 1_000_000) {
    throw invalid(`A sample rate of ${sampleRate} Hz cannot be written.`, 'Use a whole number from 1 to 1000000.');
  }
  const first = channels[0];
  if (first === undefined || channels.length > 256) throw invalid(`${channels.length} channels cannot be written.`, 'Use 1 to 256.');
  if (channels.some(samples => samples.length !== first.length)) throw invalid('The channels differ in length.', 'Make them equal first.');
}
