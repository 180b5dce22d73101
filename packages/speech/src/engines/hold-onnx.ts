import { engineError } from '../worker/engine-error.js';
import { toWire } from '../worker/protocol.js';

/**
 * Loads the ONNX runtime in this thread, before any worker does. Its native part cannot be loaded again once every thread
 * that held it is gone ("Module did not self-register"): without this, an engine that was closed or crashed could not start
 * a second time. Costs some 70 ms once and 7 MB.
 *
 * Throws EngineError `missing_dependency` with the command that installs it.
 */
export async function holdOnnx(engine: string): Promise<void> {
  try {
    await import('onnxruntime-node');
  } catch (error) {
    throw engineError(engine, toWire(error));
  }
}
