// Voice activity by Silero VAD v6 on the ONNX runtime, in a worker thread.

import type { VoiceActivityDetector } from '@antiphon/voice';
import { EngineError } from '../errors.js';
import { createModelCache, type ModelCache } from '../models/cache.js';
import { shareWorkerClient } from '../worker/shared.js';
import type { SileroContract } from '../worker/silero.worker.js';
import { holdOnnx } from './hold-onnx.js';
import { started } from './start.js';

export interface SileroVadOptions {
  /** Where the model comes from. Default: the machine's model cache. */
  readonly cache?: ModelCache;
  /** A Silero v5 or v6 ONNX file of your own, instead of the cache's. */
  readonly modelPath?: string;
}

const FRAME = 512;
/** The model was trained on frames that begin with the end of the one before. Without it, it is deaf in noise and says nothing. */
const CONTEXT = 64;
const STATE = 2 * 1 * 128;

/**
 * Silero VAD v6: 16 kHz, frames of 512 samples (32 ms), about 0.15 ms of work for each. One detector hears one stream;
 * all detectors on one model share a worker thread.
 *
 * Throws ModelError `missing` or `damaged`, EngineError `missing_dependency` (onnxruntime-node) or `failed`.
 *
 * @example
 * const vad = await sileroVad();
 * const probability = await vad.detect(frame); // 0 to 1
 */
export function sileroVad(options: SileroVadOptions = {}): Promise<VoiceActivityDetector> {
  return createSileroVad(options, CONTEXT);
}

/** With a context of its own length; 0 exists to show in a test what its lack does. */
export async function createSileroVad(options: SileroVadOptions, contextSamples: number): Promise<VoiceActivityDetector> {
  const modelPath = options.modelPath ?? (await (options.cache ?? createModelCache()).path('silero-vad-v6', 'silero_vad_v6.onnx'));
  await holdOnnx('silero-vad');
  const worker = shareWorkerClient<SileroContract>({
    name: 'silero-vad',
    script: new URL('../worker/silero.worker.js', import.meta.url),
    workerData: { modelPath },
  });
  await started(worker, worker.call('load', undefined), modelPath);
  let state = new Float32Array(STATE);
  let context = new Float32Array(contextSamples);
  // Frames build on one another, so a frame waits for the one before; a reset makes late answers void.
  let turn: Promise<unknown> = Promise.resolve();
  let stream = 0;

  async function detect(frame: Float32Array, of: number): Promise<number> {
    if (of !== stream) return 0;
    const samples = new Float32Array(contextSamples + FRAME);
    samples.set(context);
    // One sample that is not a number would poison the state for good.
    for (let i = 0; i < FRAME; i++) samples[contextSamples + i] = Number.isFinite(frame[i]) ? frame[i]! : 0;
    const answer = await worker.call('detect', { samples, state });
    if (of === stream) {
      state = answer.state as Float32Array<ArrayBuffer>;
      context = samples.slice(samples.length - contextSamples);
    }
    return answer.probability;
  }

  return {
    name: 'silero-vad-v6',
    sampleRate: 16_000,
    frameSamples: FRAME,
    detect(frame) {
      if (frame.length !== FRAME) {
        const message = `A frame of ${frame.length} samples is not what silero-vad takes.`;
        return Promise.reject(new EngineError('invalid_option', message, `Give ${FRAME} samples at 16000 Hz.`));
      }
      const of = stream;
      const copy = frame.slice();
      const answer = turn.then(() => detect(copy, of));
      turn = answer.catch(() => {});
      return answer;
    },
    async reset() {
      stream++;
      state = new Float32Array(STATE);
      context = new Float32Array(contextSamples);
    },
    close: () => worker.close(),
  };
}
