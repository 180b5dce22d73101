import { type GeneratedImage, type ImageResponse, isRecord } from '@antiphon/engine';
import { malformedAnswer } from '../http/call.js';
import type { ErrorContext } from '../http/errors.js';
import { namesOf, usageOf } from '../http/usage.js';
import { filled } from '../http/wire-values.js';

/** How the base64 of each kind of picture begins; a server's own word for it is sometimes missing and sometimes wrong. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
];

/** The pictures of an answer `{ data: [{ b64_json | url, revised_prompt }], output_format, usage }`. */
export function readImages(answer: unknown, about: ErrorContext): ImageResponse {
  if (!isRecord(answer) || !Array.isArray(answer.data)) throw malformedAnswer(about, 'answered without a list of images');
  const { output_format: format, usage } = answer;
  const images = (answer.data as unknown[]).map((item, place): GeneratedImage => {
    const { b64_json: base64, url, revised_prompt: prompt } = isRecord(item) ? item : {};
    const revisedPrompt = filled(prompt) ? { revisedPrompt: prompt } : {};
    if (typeof base64 === 'string' && base64 !== '') {
      const data = base64.slice(base64.indexOf(',') + 1);
      return { type: 'image', mediaType: mediaTypeOf(data, format), data, ...revisedPrompt };
    }
    if (filled(url)) return { type: 'image', mediaType: mediaTypeOf('', format), url, ...revisedPrompt };
    throw malformedAnswer(about, `sent image ${place} without base64 or a URL`);
  });
  const counts = usageOf(usage, { inputTokens: 'input_tokens', outputTokens: 'output_tokens', totalTokens: 'total_tokens' });
  return { images, ...namesOf(answer), ...counts };
}

function mediaTypeOf(base64: string, format: unknown): string {
  const seen = BEGINNINGS.find(([beginning]) => base64.startsWith(beginning))?.[1];
  return seen ?? (typeof format === 'string' && /^\w+$/.test(format) ? `image/${format}` : 'image/png');
}
