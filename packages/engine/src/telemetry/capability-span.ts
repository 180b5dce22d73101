// Spans of the capabilities beside chat. The conventions know `embeddings` and `generate_content`, whatever is generated; `rerank` is proposed
// and in use (semantic-conventions-genai#253); `moderation` and `classification` are our words, since none of theirs fits.
import type { CapabilityMethod, CapabilityReport, CapabilityUsage } from '../capabilities/call.js';
import { defined } from '../data/defined.js';
import { type Attributes, providerName, usageAttributes } from './attributes.js';
import { askedOf, givenIn } from './capability-content.js';
import { CLIENT, fail, type OtelOptions } from './otel-api.js';
import type { CapabilityInfo, CapabilityObserver } from './telemetry.js';

/** The operation, and what is generated. */
const OPERATIONS: { readonly [method in CapabilityMethod]: readonly [operation: string, output?: string] } = {
  embed: ['embeddings'],
  generateImage: ['generate_content', 'image'],
  editImage: ['generate_content', 'image'],
  moderate: ['moderation'],
  classify: ['classification'],
  rerank: ['rerank'],
  speak: ['generate_content', 'speech'],
  streamSpeech: ['generate_content', 'speech'],
  streamSpeechFromText: ['generate_content', 'speech'],
  transcribe: ['generate_content', 'text'],
  streamTranscription: ['generate_content', 'text'],
};

/** Opens the span of a call; the observer ends it. */
export function capabilitySpan(options: OtelOptions, info: CapabilityInfo): CapabilityObserver {
  const { method, provider, model, requestId, clock } = info;
  const request = info.request as { readonly n?: number; readonly dimensions?: number };
  const [operation, output] = OPERATIONS[method];
  const streams = method.startsWith('stream');
  const began = clock.now();
  let retries = 0;
  let begun = false;
  const span = options.tracer.startSpan(
    `${operation} ${model}`,
    {
      kind: CLIENT,
      startTime: clock.wallTime(),
      attributes: defined({
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': providerName(provider),
        'gen_ai.request.model': model,
        'gen_ai.output.type': output,
        'gen_ai.request.stream': streams || undefined,
        'gen_ai.request.choice.count': request.n === 1 ? undefined : request.n,
        'gen_ai.embeddings.dimension.count': request.dimensions,
        'gen_ai.input.messages': options.captureContent ? askedOf(info.request) : undefined,
        'antiphon.request_id': requestId,
        'antiphon.method': method,
      }),
    },
    options.context?.(),
  );
  return {
    event(event) {
      if (event.type === 'retry') {
        const { error, attempt, delayMs } = event;
        retries++;
        const about = { 'error.type': error.reason, 'antiphon.attempt': attempt, 'antiphon.delay_ms': delayMs };
        span.addEvent('retry', about, clock.wallTime());
      } else if (!begun && (event.type === 'audio_delta' || event.type.endsWith('_transcript'))) {
        begun = true;
        span.setAttributes({ 'gen_ai.response.time_to_first_chunk': (clock.now() - began) / 1000 });
      }
    },
    end(outcome) {
      if (outcome.status === 'failed') fail(span, outcome.error.toJSON());
      span.setAttributes({
        ...reportAttributes(outcome),
        ...defined({
          'gen_ai.embeddings.dimension.count': (outcome as { readonly dimensions?: number }).dimensions,
          'gen_ai.output.messages': options.captureContent ? givenIn(outcome) : undefined,
        }),
        'antiphon.status': outcome.status,
        'antiphon.retries': retries,
      });
      span.end(clock.wallTime());
    },
  };
}

function reportAttributes({ usage, cost, model, responseIds }: CapabilityReport): Attributes {
  const { characters, audioSeconds, images, searchUnits }: CapabilityUsage = usage;
  return {
    ...usageAttributes(usage, cost),
    ...defined({
      'gen_ai.response.model': model,
      // Several batches have several; the convention has room for one.
      'gen_ai.response.id': responseIds.length === 1 ? responseIds[0] : undefined,
      'antiphon.usage.characters': characters,
      'antiphon.usage.audio_seconds': audioSeconds,
      'antiphon.usage.images': images,
      'antiphon.usage.search_units': searchUnits,
    }),
  };
}
