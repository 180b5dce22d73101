import { isRecord } from '@antiphon/engine';
import { malformedAnswer } from './call.js';
import { type ErrorContext, parseJson } from './errors.js';
import { SseParser } from './sse.js';
import type { StreamedAnswer } from './streamed.js';

/**
 * The JSON objects of an answer as they come: one a line, each an event, or one that is printed over many lines. `shown`: a part of the answer was
 * passed on already. Throws `AdapterError` (`malformed_response`) for anything else but a `[DONE]`.
 */
export async function* jsonObjects(
  { read }: StreamedAnswer,
  shown: () => boolean,
  about: ErrorContext,
): AsyncGenerator<Record<string, unknown>> {
  const texts: string[] = [];
  let stray = '';
  const sse = new SseParser({
    onEvent: data => texts.push(data),
    onStray: line => {
      const whole = stray + line;
      // Only what can be an end is tried: a long object in many lines is not parsed again for each of them.
      const complete = /[}\]]\s*$/.test(line) && (stray === '' || !/^\s/.test(line)) && parseJson(whole) !== undefined;
      if (complete) texts.push(whole);
      stray = complete ? '' : whole;
    },
  });
  for (let over = false; !over; ) {
    const bytes = await read(shown);
    over = bytes === undefined;
    if (bytes) sse.feed(bytes);
    else sse.end();
    if (over && stray.trim() !== '') texts.push(stray);
    for (const text of texts.splice(0)) {
      if (text.trim() === '[DONE]') continue;
      const value = parseJson(text);
      if (!isRecord(value)) throw malformedAnswer(about, `sent something else than JSON objects: ${about.redact(text).slice(0, 80)}`);
      yield value;
    }
  }
}
