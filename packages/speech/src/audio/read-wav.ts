// Reads WAV files of every common kind. Sizes in the header are hints, never trusted: what is allocated follows from the bytes that are there.

import { readFile } from 'node:fs/promises';
import { AudioError } from '../errors.js';
import { type Encoding, sampleCodecs } from './sample-codec.js';

export interface AudioClip {
  /** Hz. */
  readonly sampleRate: number;
  /** One array per channel, all of one length, −1 to 1 (float files may go beyond). */
  readonly channels: readonly Float32Array[];
}

export interface WavAudio extends AudioClip {
  readonly seconds: number;
  readonly encoding: Encoding;
  /** What was odd about the file and how it was taken, one line each; empty for a sound file. */
  readonly warnings: readonly string[];
}

interface Format {
  readonly encoding: Encoding;
  readonly channelCount: number;
  readonly sampleRate: number;
  readonly frameBytes: number;
}

const MAX_CHANNELS = 256;
const MAX_RATE = 1_000_000;
/** A size that the writer did not know when it began to write. */
const UNKNOWN_SIZE = 0xffffffff;

/**
 * Reads a WAV file: integers of 8 to 32 bits, floats of 32 or 64, µ-law and A-law, any rate and channel count, extensible
 * headers, RF64, streamed files whose sizes are unknown. A file that was cut short gives what is there and a warning.
 *
 * Throws AudioError `not_found`, `not_wav`, `empty`, `unsupported` or `damaged`.
 *
 * @example
 * const { sampleRate, channels, seconds } = await readWav('question.wav');
 */
export async function readWav(source: string | URL | Uint8Array): Promise<WavAudio> {
  if (source instanceof Uint8Array) return parseWav(source, 'These bytes');
  const name = typeof source === 'string' ? source : source.pathname;
  let bytes: Uint8Array;
  try {
    bytes = await readFile(source);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const why = code === 'ENOENT' ? 'There is no such file' : code === 'EISDIR' ? 'That is a folder' : `Cannot read the file (${code})`;
    throw new AudioError('not_found', `${why}: ${name}.`, 'Give the path of a WAV file that can be read.', error);
  }
  return parseWav(bytes, name);
}

/** Like `readWav` for bytes in memory, without waiting. `name` begins the error messages. */
export function parseWav(bytes: Uint8Array, name = 'These bytes'): WavAudio {
  if (bytes.length === 0) throw new AudioError('empty', `${name}: the file is empty.`, 'Record or export it again.');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const form = tag(view, 0);
  if ((form !== 'RIFF' && form !== 'RF64') || tag(view, 8) !== 'WAVE') {
    throw new AudioError(
      'not_wav',
      `${name}: this is not a WAV file${guess(view)}.`,
      'Convert it first, for example: ffmpeg -i INPUT OUTPUT.wav',
    );
  }
  const warnings: string[] = [];
  let format: Format | undefined;
  let data: { start: number; size: number } | undefined;
  let longSize: number | undefined;
  for (let at = 12; at + 8 <= bytes.length && data === undefined; ) {
    const id = tag(view, at);
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    if (id === 'ds64' && start + 16 <= bytes.length) longSize = Number(view.getBigUint64(start + 8, true));
    if (id === 'fmt ') format = readFormat(view, start, Math.min(size, bytes.length - start), name);
    if (id === 'data') data = { start, size: size === UNKNOWN_SIZE && longSize !== undefined ? longSize : size };
    // Chunks are padded to an even length.
    at = start + size + (size % 2);
  }
  if (format === undefined)
    throw new AudioError('damaged', `${name}: the WAV file says nothing about its format.`, 'Record or export it again.');
  if (data === undefined) throw new AudioError('empty', `${name}: the WAV file holds no sound.`, 'Record or export it again.');
  const frames = countFrames(data, bytes.length, format, warnings);
  if (frames === 0) throw new AudioError('empty', `${name}: the WAV file holds no sound.`, 'Record or export it again.');
  const channels = decode(view, data.start, frames, format, warnings);
  return { sampleRate: format.sampleRate, channels, seconds: frames / format.sampleRate, encoding: format.encoding, warnings };
}

function readFormat(view: DataView, start: number, size: number, name: string): Format {
  const damaged = (what: string) =>
    new AudioError('damaged', `${name}: the WAV header is damaged (${what}).`, 'Record or export it again.');
  if (size < 16) throw damaged(`its format chunk has ${size} bytes`);
  let code = view.getUint16(start, true);
  const channelCount = view.getUint16(start + 2, true);
  const sampleRate = view.getUint32(start + 4, true);
  const bits = view.getUint16(start + 14, true);
  // WAVE_FORMAT_EXTENSIBLE keeps the real code in the first bytes of its subformat.
  if (code === 0xfffe && size >= 26) code = view.getUint16(start + 24, true);
  if (channelCount === 0 || channelCount > MAX_CHANNELS) throw damaged(`${channelCount} channels`);
  if (sampleRate === 0 || sampleRate > MAX_RATE) throw damaged(`${sampleRate} Hz`);
  const encoding = encodingOf(code, bits);
  if (encoding === undefined) {
    const hint = 'Convert it first, for example: ffmpeg -i INPUT -c:a pcm_s16le OUTPUT.wav';
    throw new AudioError('unsupported', `${name}: WAV format ${code} with ${bits} bits is not supported.`, hint);
  }
  return { encoding, channelCount, sampleRate, frameBytes: sampleCodecs[encoding].bytes * channelCount };
}

function encodingOf(code: number, bits: number): Encoding | undefined {
  if (code === 1) {
    // Odd depths such as 12 or 20 bits stand left-aligned in the next whole byte.
    const container = Math.ceil(bits / 8) * 8;
    return ({ 8: 'int8', 16: 'int16', 24: 'int24', 32: 'int32' } as const)[container];
  }
  if (code === 3) return ({ 32: 'float32', 64: 'float64' } as const)[bits];
  if (code === 6 && bits === 8) return 'alaw';
  if (code === 7 && bits === 8) return 'mulaw';
  return undefined;
}

function countFrames(data: { start: number; size: number }, fileBytes: number, format: Format, warnings: string[]): number {
  const present = Math.max(0, fileBytes - data.start);
  let size = data.size;
  if ((size === 0 || size === UNKNOWN_SIZE) && present > 0) {
    warnings.push(`The length in the header is not filled in; took all ${present} bytes to the end of the file.`);
    size = present;
  } else if (size > present) {
    warnings.push(`The file is cut short: ${present} of ${size} bytes of sound are there.`);
    size = present;
  }
  const frames = Math.floor(size / format.frameBytes);
  if (frames * format.frameBytes !== size && frames > 0) warnings.push('The last frame is incomplete and was left out.');
  return frames;
}

function decode(view: DataView, start: number, frames: number, format: Format, warnings: string[]): Float32Array[] {
  const { bytes, read } = sampleCodecs[format.encoding];
  let broken = 0;
  const channels = Array.from({ length: format.channelCount }, (_, channel) => {
    const samples = new Float32Array(frames);
    for (let frame = 0, at = start + channel * bytes; frame < frames; frame++, at += format.frameBytes) {
      const sample = read(view, at);
      if (Number.isFinite(sample)) samples[frame] = sample;
      else broken++;
    }
    return samples;
  });
  if (broken > 0) warnings.push(`${broken} samples are not numbers and were taken as silence.`);
  return channels;
}

function tag(view: DataView, at: number): string {
  if (at + 4 > view.byteLength) return '';
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}

function guess(view: DataView): string {
  const head = tag(view, 0);
  if (head === 'RIFX') return ', but the rare big-endian kind';
  if (head === 'OggS') return ', but Ogg';
  if (head === 'fLaC') return ', but FLAC';
  if (head.startsWith('ID3') || (view.byteLength > 1 && (view.getUint16(0) & 0xffe0) === 0xffe0)) return ', but MP3';
  if (tag(view, 4) === 'ftyp') return ', but MP4 or M4A';
  if (head === '\u001aEß£') return ', but WebM or Matroska';
  return '';
}
