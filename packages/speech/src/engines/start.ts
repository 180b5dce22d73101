import { EngineError } from '../errors.js';

/** Waits for an engine's first work; when that fails, its worker is closed and the error says which model to look at. */
export async function started<T>(worker: { close(): Promise<void> }, work: Promise<T>, modelPath: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await worker.close();
    if (!(error instanceof EngineError) || error.reason !== 'failed') throw error;
    throw new EngineError('failed', error.message.trim(), `Check that ${modelPath} is the right model.`, error);
  }
}
