// The door to the capabilities: their code is loaded when one of them is first used, so that who only chats does not carry it. Mistakes that
// a stream must tell at once, before it is one, are found on this side of the door.

import { OnDemand } from '../async/on-demand.js';
import type { Clock } from '../clock.js';
import type { PriceTable } from '../data/cost.js';
import type { KeyResolver } from '../reliability/keys.js';
import type { RetryPolicy } from '../reliability/retrying.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Runtime } from './run-call.js';
import { adapterIn, type CapabilityMethods, type CapabilitySlots } from './slots.js';
import { speechRequest, speechSettings } from './speech.js';
import { lazyStream } from './stream.js';
import { streamTranscriptionRequest } from './transcription.js';

/** The code of the capabilities. */
export const capabilities = new OnDemand(() => import('./methods.js'));
type Loaded = typeof import('./methods.js');

/** Parts of an engine that hold for every capability. */
interface CapabilitySettings {
  readonly retry?: RetryPolicy | false;
  readonly keys?: KeyResolver;
  readonly context?: unknown;
  readonly prices?: PriceTable;
  readonly telemetry?: Telemetry;
}

/** The methods for these slots. */
export function capabilityMethods(config: CapabilitySlots & CapabilitySettings, clock: Clock): CapabilityMethods {
  const { retry, keys, context, prices, telemetry } = config;
  const runtime: Runtime = { clock, retry, keys, context, prices, telemetry };
  type Slot = keyof CapabilitySlots;
  type Method = (...given: never[]) => Promise<unknown>;
  const lazily = <S extends Slot, M extends Method>(
    slot: S,
    choose: (loaded: Loaded) => (adapter: NonNullable<CapabilitySlots[S]>, runtime: Runtime) => M,
  ): M => {
    const method = async (...given: Parameters<M>) => {
      const adapter = adapterIn(slot, config);
      return choose(await capabilities.get())(adapter, runtime)(...given);
    };
    return method as M;
  };
  return {
    embed: lazily('embeddings', loaded => loaded.embedWith),
    generateImage: lazily('images', loaded => loaded.generateImageWith),
    editImage: lazily('images', loaded => loaded.editImageWith),
    moderate: lazily('moderation', loaded => loaded.moderateWith),
    classify: lazily('classification', loaded => loaded.classifyWith),
    speak: lazily('speech', loaded => loaded.speakWith),
    streamSpeech: (input, options = {}) => {
      const adapter = adapterIn('speech', config);
      const request = speechRequest('streamSpeech', input, options);
      return lazyStream(async stop => (await capabilities.get()).runSpeech(adapter, request, { options, runtime, stop }));
    },
    streamSpeechFromText: (text, options = {}) => {
      const adapter = adapterIn('speech', config);
      const settings = speechSettings(text, options);
      return lazyStream(async stop => (await capabilities.get()).runSpeechFromText(adapter, text, settings, { options, runtime, stop }));
    },
    transcribe: lazily('transcription', loaded => loaded.transcribeWith),
    streamTranscription: (audio, options = {}) => {
      const adapter = adapterIn('transcription', config);
      const request = streamTranscriptionRequest(audio, options);
      return lazyStream(async stop => (await capabilities.get()).runTranscription(adapter, audio, request, { options, runtime, stop }));
    },
    rerank: lazily('rerank', loaded => loaded.rerankWith),
  };
}
