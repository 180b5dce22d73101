import { AdapterError, type TranscriptionAdapter, type TranscriptionRequest, type Warning } from '@antiphon/engine';
import { refuse } from '../http/call.js';
import type { WireObject } from '../http/wire-values.js';
import { bareMediaType } from '../media/media-type.js';
import { endpointFor, type GeminiOptions, PROVIDER } from './endpoint.js';
import { finishReason } from './finish.js';
import { generate, textOf, withOwn } from './generate.js';

/** A request may have 20 MB; base64 adds a third, and the instructions need a little. */
const MAX_AUDIO_BYTES = 15_000_000;

const MEDIA_TYPES = ['audio/wav', 'audio/x-wav', 'audio/mp3', 'audio/mpeg', 'audio/aiff', 'audio/aac', 'audio/ogg', 'audio/flac'];
/** Names that the API does not know for what it reads. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['audio/x-wav', 'audio/wav'],
  ['audio/mpeg', 'audio/mp3'],
]);

/**
 * Recordings written down by a Gemini chat model that listens (`generateContent` with sound). It is a model with instructions, not a
 * recognizer: it may smooth what was said, and it tells no times of words, which are refused (`unsupported`) before anything is sent.
 *
 * Throws as `gemini` does; `truncated` when the transcript was cut off at the model's limit, `content_filter` when it was blocked.
 *
 * ```ts
 * const engine = createEngine({ transcription: geminiTranscription({ model: 'gemini-2.5-flash' }) });
 * ```
 */
export function geminiTranscription(options: GeminiOptions): TranscriptionAdapter {
  const endpoint = endpointFor('geminiTranscription', options);
  return {
    provider: PROVIDER,
    model: options.model,
    maxAudioBytes: MAX_AUDIO_BYTES,
    mediaTypes: MEDIA_TYPES,
    async transcribe(request, context) {
      context.signal.throwIfAborted();
      const mediaType = bareMediaType(request.audio.mediaType);
      refuse(PROVIDER, [
        request.timestamps === true && 'it cannot tell the times of words (timestamps)',
        request.logprobs === true && 'it cannot tell how sure it is (logprobs)',
        !MEDIA_TYPES.includes(mediaType) && `it cannot read ${mediaType}, only ${MEDIA_TYPES.join(', ')}`,
      ]);
      const model = request.model ?? options.model;
      const body = withOwn(bodyOf(request, RENAMED.get(mediaType) ?? mediaType), request);
      const { parts, finish, about } = await generate(endpoint, model, body, context);
      if (finishReason(finish, false) === 'length') {
        const message = `The transcript of ${PROVIDER} was cut off at the model's limit: send the recording in shorter pieces.`;
        throw new AdapterError('truncated', message, { provider: PROVIDER });
      }
      const warnings: Warning[] =
        finish === 'STOP' || finish === '' ? [] : [{ code: 'other', message: `The transcript ended for an unusual reason (${finish}).` }];
      return { text: textOf(parts).trim(), ...about, warnings };
    },
  };
}

function bodyOf({ audio, language, prompt }: TranscriptionRequest, mimeType: string): WireObject {
  const instructions = [
    'Write down what is said in the recording, word for word, and nothing else: no title, no names of speakers, no times, no comment.',
    'If nobody speaks, answer with nothing at all.',
    ...(language === undefined ? [] : [`The language is ${language}.`]),
    ...(prompt === undefined ? [] : [`These words and names may occur: ${prompt}`]),
  ].join('\n');
  return {
    systemInstruction: { parts: [{ text: instructions }] },
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType, data: audio.data } }] }],
    generationConfig: { temperature: 0 },
  };
}
