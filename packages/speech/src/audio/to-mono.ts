import type { AudioClip } from './read-wav.js';

/**
 * The average of all channels, as one array; for mono it is that channel itself, not a copy.
 *
 * @example
 * const samples = toMono(await readWav('stereo.wav'));
 */
export function toMono(audio: Pick<AudioClip, 'channels'>): Float32Array {
  const [first, ...others] = audio.channels;
  if (first === undefined) return new Float32Array(0);
  if (others.length === 0) return first;
  const mono = new Float32Array(first.length);
  for (const channel of audio.channels) for (let i = 0; i < mono.length; i++) mono[i]! += channel[i] ?? 0;
  for (let i = 0; i < mono.length; i++) mono[i]! /= audio.channels.length;
  return mono;
}
