// The ONNX runtime inside a worker: loaded only when an engine needs it, and never cut off in the middle of a call.

import { workerData } from 'node:worker_threads';
import type { InferenceSession, OnnxValue } from 'onnxruntime-node';
import { type GateMemory, passGate } from './native-gate.js';

export type Onnx = typeof import('onnxruntime-node');

export interface Network {
  run(inputs: Readonly<Record<string, OnnxValue>>): Promise<InferenceSession.ReturnType>;
}

/** One thread per model: more bring nothing at these sizes and take cores from the rest. Severity 3: errors only. */
const sessionOptions: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
};

const { gate } = workerData as { gate: GateMemory };

/** Throws Node's ERR_MODULE_NOT_FOUND when the package is not installed. */
export function loadOnnx(): Promise<Onnx> {
  return passGate(gate, () => import('onnxruntime-node'));
}

export async function loadNetwork(onnx: Onnx, path: string): Promise<Network> {
  const session = await passGate(gate, () => onnx.InferenceSession.create(path, sessionOptions));
  return { run: inputs => passGate(gate, () => session.run(inputs)) };
}
