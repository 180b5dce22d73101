// Speech to text by Moonshine tiny (English, int8) on the ONNX runtime, in a worker thread.

import { dirname } from 'node:path';
import type { SpeechToText, Transcript } from '@antiphon/voice';
import { EngineError } from '../errors.js';
import { createModelCache, type ModelCache } from '../models/cache.js';
import type { MoonshineContract } from '../worker/moonshine.worker.js';
import { shareWorkerClient } from '../worker/shared.js';
import { holdOnnx } from './hold-onnx.js';
import { started } from './start.js';
import { transcribeUtterance } from './transcribe-utterance.js';

export interface MoonshineOptions {
  /** Where the model comes from. Default: the machine's model cache. */
  readonly cache?: ModelCache;
  /** A folder of your own with `encoder_model.onnx` and `decoder_model_merged.onnx` of Moonshine tiny. */
  readonly modelPath?: string;
  /** New audio, in milliseconds, before the next partial. 0: no partials. Default 500. */
  readonly partialMs?: number;
}

/**
 * Moonshine tiny, English: 16 kHz in, text with case and punctuation out, at about 0.03 of real time on one thread.
 * Partials come by decoding again what was heard so far, so they may rewrite earlier words; the final is decoded from the
 * whole utterance. More than half a minute is cut at quiet places. Silence and noise give an empty text. One engine serves
 * any number of utterances at once.
 *
 * Throws ModelError `missing` or `damaged`, EngineError `missing_dependency` (onnxruntime-node), `failed`, or
 * `invalid_option` for a language other than English.
 *
 * @example
 * const stt = await moonshine();
 * for await (const { type, text } of stt.transcribe(blocks)) console.log(type, text);
 */
export async function moonshine(options: MoonshineOptions = {}): Promise<SpeechToText> {
  const partialMs = options.partialMs ?? 500;
  if (!(partialMs >= 0)) throw new EngineError('invalid_option', `partialMs cannot be ${partialMs}.`, 'Use 0 (none) or more.');
  const modelFolder = options.modelPath ?? (await cachedFolder(options.cache ?? createModelCache()));
  await holdOnnx('moonshine');
  const worker = shareWorkerClient<MoonshineContract>({
    name: 'moonshine',
    script: new URL('../worker/moonshine.worker.js', import.meta.url),
    workerData: { modelFolder },
  });
  await started(worker, worker.call('load', undefined), modelFolder);

  async function decode(samples: Float32Array, signal: AbortSignal): Promise<string> {
    const { text } = await worker.call('decode', { samples }, { signal, transfer: [samples.buffer as ArrayBuffer] });
    return text;
  }

  return {
    name: 'moonshine-tiny-en',
    sampleRate: 16_000,
    async *transcribe(audio, { signal, language } = {}): AsyncGenerator<Transcript> {
      if (language !== undefined && !/^en(-|$)/i.test(language)) {
        throw new EngineError(
          'invalid_option',
          `Moonshine tiny understands English, not "${language}".`,
          'Use another speech to text for it.',
        );
      }
      yield* transcribeUtterance(audio, decode, { partialMs, ...(signal === undefined ? {} : { signal }) });
    },
    close: () => worker.close(),
  };
}

async function cachedFolder(cache: ModelCache): Promise<string> {
  const files = await cache.require('moonshine-tiny-en-int8');
  return dirname(files['encoder_model.onnx']!);
}
