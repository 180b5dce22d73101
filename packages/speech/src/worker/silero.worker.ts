// Silero VAD: one frame in, the probability of speech out. It keeps no state; the caller brings it and takes it back.

import { workerData } from 'node:worker_threads';
import type { Tensor } from 'onnxruntime-node';
import { lazy } from './lazy.js';
import { loadNetwork, loadOnnx, type Network, type Onnx } from './onnx.js';
import { serve } from './serve.js';

export interface SileroContract {
  load: { input: undefined; output: undefined };
  detect: {
    /** Context and frame, one after the other; the recurrent state, 256 numbers. */
    input: { readonly samples: Float32Array; readonly state: Float32Array };
    output: { readonly probability: number; readonly state: Float32Array };
  };
}

const { modelPath } = workerData as { modelPath: string };

interface Loaded {
  readonly onnx: Onnx;
  readonly network: Network;
  readonly sampleRate: Tensor;
}

const load = lazy(async (): Promise<Loaded> => {
  const onnx = await loadOnnx();
  const network = await loadNetwork(onnx, modelPath);
  return { onnx, network, sampleRate: new onnx.Tensor('int64', BigInt64Array.of(16_000n), []) };
});

serve<SileroContract>({
  async load() {
    await load();
    return { value: undefined };
  },
  async detect({ samples, state }) {
    const { onnx, network, sampleRate } = await load();
    const { output, stateN } = await network.run({
      input: new onnx.Tensor('float32', samples, [1, samples.length]),
      state: new onnx.Tensor('float32', state, [2, 1, 128]),
      sr: sampleRate,
    });
    const probability = (output!.data as Float32Array)[0]!;
    return { value: { probability, state: Float32Array.from(stateN!.data as Float32Array) } };
  },
});
