import { joinedBytes } from '../http/bytes.js';

const HEADER_BYTES = 44;

/** Raw 16-bit little-endian mono samples as a WAV file (RIFF, PCM). */
export function wavOf(pieces: readonly Uint8Array[], sampleRate: number): Uint8Array {
  const file = joinedBytes([new Uint8Array(HEADER_BYTES), ...pieces]);
  const view = new DataView(file.buffer);
  const mark = (at: number, word: string) => {
    for (let i = 0; i < word.length; i++) file[at + i] = word.charCodeAt(i);
  };
  mark(0, 'RIFF');
  view.setUint32(4, file.length - 8, true);
  mark(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  mark(36, 'data');
  view.setUint32(40, file.length - HEADER_BYTES, true);
  return file;
}
