// Loads the ONNX runtime inside a worker, only when an engine needs it.

import type { InferenceSession } from 'onnxruntime-node';

export type Onnx = typeof import('onnxruntime-node');

/** Throws Node's ERR_MODULE_NOT_FOUND when the package is not installed. */
export async function loadOnnx(): Promise<Onnx> {
  return import('onnxruntime-node');
}

/** One thread per model: more bring nothing at these sizes and take cores from the rest. Severity 3: errors only. */
export const sessionOptions: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
};
