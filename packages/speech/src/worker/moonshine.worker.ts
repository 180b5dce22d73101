// Moonshine: audio in, text out, by greedy decoding over the encoder's output with a key/value cache.

import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import type tokenizerType from 'llama-tokenizer-js';
import type { Tensor } from 'onnxruntime-node';
import { repetitionStart } from '../text/repetition.js';
import { lazy } from './lazy.js';
import { loadNetwork, loadOnnx, type Network, type Onnx } from './onnx.js';
import { serve } from './serve.js';

export interface MoonshineContract {
  load: { input: undefined; output: undefined };
  /** 16 kHz mono of one utterance or one part of a long one. */
  decode: { input: { readonly samples: Float32Array }; output: { readonly text: string } };
}

const { modelFolder } = workerData as { modelFolder: string };

const BEGIN = 1;
const END = 2;
const TOKENS_PER_SECOND = 6;
/** The encoder's convolutions need some samples to give even one frame. */
const MIN_SAMPLES = 16_000 / 4;
const LAYERS = 6;
const HEADS = 8;
const HEAD_SIZE = 36;

interface Loaded {
  readonly onnx: Onnx;
  readonly encoder: Network;
  readonly decoder: Network;
  readonly tokenizer: typeof tokenizerType;
}

const load = lazy(async (): Promise<Loaded> => {
  const [onnx, { default: tokenizer }] = await Promise.all([loadOnnx(), import('llama-tokenizer-js')]);
  const [encoder, decoder] = await Promise.all(
    ['encoder_model.onnx', 'decoder_model_merged.onnx'].map(file => loadNetwork(onnx, join(modelFolder, file))),
  );
  return { onnx, encoder: encoder!, decoder: decoder!, tokenizer };
});

async function decode({ onnx, encoder, decoder, tokenizer }: Loaded, samples: Float32Array, signal: AbortSignal): Promise<string> {
  const input = padded(samples);
  const encoded = await encoder.run({ input_values: new onnx.Tensor('float32', input, [1, input.length]) });
  const past = emptyCache(onnx);
  const tokens: number[] = [];
  const limit = Math.max(2, Math.ceil((input.length / 16_000) * TOKENS_PER_SECOND));
  for (let step = 0; step < limit; step++) {
    signal.throwIfAborted();
    const output = await decoder.run({
      input_ids: new onnx.Tensor('int64', BigInt64Array.of(BigInt(tokens.at(-1) ?? BEGIN)), [1, 1]),
      encoder_hidden_states: encoded.last_hidden_state!,
      use_cache_branch: new onnx.Tensor('bool', Uint8Array.of(step > 0 ? 1 : 0), [1]),
      ...past,
    });
    const token = strongest(output.logits!);
    if (token === END) break;
    tokens.push(token);
    const loop = repetitionStart(tokens);
    if (loop !== undefined) {
      tokens.length = loop;
      break;
    }
    // What the decoder knows of the encoder's output is computed in the first step and stays.
    for (const name of Object.keys(past)) {
      if (step === 0 || name.includes('.decoder.')) past[name] = output[name.replace('past_key_values', 'present')]!;
    }
  }
  return tokenizer.decode(tokens, false).trim();
}

function padded(samples: Float32Array): Float32Array {
  if (samples.length >= MIN_SAMPLES) return samples;
  const longer = new Float32Array(MIN_SAMPLES);
  longer.set(samples, (MIN_SAMPLES - samples.length) >> 1);
  return longer;
}

function emptyCache(onnx: Onnx): Record<string, Tensor> {
  const cache: Record<string, Tensor> = {};
  for (let layer = 0; layer < LAYERS; layer++) {
    for (const side of ['decoder', 'encoder']) {
      for (const part of ['key', 'value']) {
        cache[`past_key_values.${layer}.${side}.${part}`] = new onnx.Tensor('float32', new Float32Array(0), [0, HEADS, 1, HEAD_SIZE]);
      }
    }
  }
  return cache;
}

function strongest(logits: Tensor): number {
  const values = logits.data as Float32Array;
  const first = values.length - logits.dims.at(-1)!;
  let best = first;
  for (let i = first + 1; i < values.length; i++) if (values[i]! > values[best]!) best = i;
  return best - first;
}

serve<MoonshineContract>({
  async load() {
    await load();
    return { value: undefined };
  },
  async decode({ samples }, signal) {
    return { value: { text: await decode(await load(), samples, signal) } };
  },
});
