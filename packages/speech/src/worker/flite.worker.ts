// Flite, compiled to WebAssembly: compiled once, one fresh instance per call. A call cannot be stopped before it ends.

import { readFile } from 'node:fs/promises';
import { workerData } from 'node:worker_threads';
import { parseWav } from '../audio/read-wav.js';
import { toMono } from '../audio/to-mono.js';
import { lazy } from './lazy.js';
import { serve } from './serve.js';
import { runProgram } from './wasi-memory.js';

export interface FliteContract {
  speak: {
    /** Printable ASCII with at least one letter or digit. */
    input: { readonly voice: string; readonly text: string };
    output: { readonly samples: Float32Array; readonly sampleRate: number };
  };
}

const { modelPath } = workerData as { modelPath: string };

const compile = lazy(async () => WebAssembly.compile(await readFile(modelPath)));

async function speak(voice: string, text: string): Promise<FliteContract['speak']['output']> {
  const module = await compile();
  const args = ['flite', '-voice', voice, '-t', text, '-o', '/out/speech.wav'];
  const { exitCode, file, messages } = await runProgram(module, args, 'speech.wav');
  if (exitCode !== 0 || file === undefined) throw new Error(`it ended with code ${exitCode} and no audio. ${messages}`.trim());
  const wav = parseWav(file, 'flite');
  return { samples: toMono(wav), sampleRate: wav.sampleRate };
}

serve<FliteContract>({
  async speak({ voice, text }) {
    const value = await speak(voice, text);
    return { value, transfer: [value.samples.buffer as ArrayBuffer] };
  },
});
