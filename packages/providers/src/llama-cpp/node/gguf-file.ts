/// <reference types="node" />
import { AdapterError, ConfigurationError } from '@antiphon/engine';
import { PROVIDER } from '../binding.js';

/** A look at the file before the native code gets it: throws when it is not there, cannot be read, or is no GGUF file. */
export async function checkGgufFile(path: string): Promise<void> {
  const { open } = await fileSystem();
  const start = Buffer.alloc(4);
  try {
    const file = await open(path, 'r');
    try {
      await file.read(start, 0, 4, 0);
    } finally {
      await file.close();
    }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') {
      throw new AdapterError('model_not_found', `There is no file ${path}. Set modelPath to a GGUF model on this machine.`, {
        provider: PROVIDER,
      });
    }
    throw new AdapterError('model_not_found', `The model file ${path} cannot be read (${code ?? String(cause)}).`, {
      provider: PROVIDER,
    });
  }
  if (start.toString('latin1') !== 'GGUF') {
    throw new ConfigurationError(
      'invalid_option',
      `${path} is no GGUF file: it does not begin with "GGUF". Download it again, or convert the model.`,
      {
        provider: PROVIDER,
      },
    );
  }
}

async function fileSystem() {
  try {
    // Loaded here, and in a `try`: bundlers for the browser leave such an import alone.
    return await import('node:fs/promises');
  } catch (cause) {
    throw new ConfigurationError('invalid_option', 'llamaCpp needs Node and its file system; ask a server instead (openaiChat).', {
      provider: PROVIDER,
      cause,
    });
  }
}
