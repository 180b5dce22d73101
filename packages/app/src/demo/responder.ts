import { BlockWriter, type ChatAdapter, type ChatRequest, type Message, messageText } from '@antiphon/engine';
import { findExpression } from './arithmetic.js';
import type { DocumentIndex } from './documents.js';

/** What is shown on screen wherever the demo responder answers. */
export const DEMO_NOTICE =
  'Answering with the demo responder. It is no language model: it looks up documents, tells the time and does arithmetic.';

const MAX_SENTENCES = 3;

/**
 * Answers without a model: deterministic retrieval over documents, and tool calls for the time and for arithmetic. It is a chat adapter like
 * any other, so the loop, the tools and the voice run exactly as they do with a model.
 */
export function demoResponder(documents: DocumentIndex): ChatAdapter {
  return {
    provider: 'demo',
    model: 'demo-responder',
    async *stream(request, { signal }) {
      signal.throwIfAborted();
      const blocks = new BlockWriter();
      blocks.start({ model: 'demo-responder' });
      const call = toolCallFor(request);
      if (call) blocks.toolCall(0, { name: call.name, args: JSON.stringify(call.arguments) });
      else {
        for (const word of answer(request.messages, documents).match(/\S+\s*/g) ?? []) {
          blocks.text(word);
          yield* blocks.take();
          signal.throwIfAborted();
        }
      }
      blocks.end({ finishReason: call ? 'tool_calls' : 'stop', usage: {} });
      yield* blocks.take();
    },
  };
}

function toolCallFor({ messages, tools }: ChatRequest): { name: string; arguments: { readonly [key: string]: string } } | undefined {
  const last = messages.at(-1);
  if (last?.role !== 'user') return undefined;
  const question = messageText(last);
  const has = (name: string) => tools?.some(tool => tool.name === name);
  if (has('get_time') && /\b(?:what|which|tell|current)\b.*\b(?:time|date|day|today)\b|\bwhat time\b/i.test(question)) {
    return { name: 'get_time', arguments: {} };
  }
  const expression = findExpression(question);
  return expression && has('calculate') ? { name: 'calculate', arguments: { expression } } : undefined;
}

function answer(messages: readonly Message[], documents: DocumentIndex): string {
  const last = messages.at(-1);
  if (last?.role === 'tool') return last.isError ? `That did not work: ${messageText(last)}` : messageText(last);
  const question = [...messages].reverse().find(message => message.role === 'user');
  const passage = question && documents.find(messageText(question));
  if (!passage)
    return 'I found nothing about that in my documents. I am a demo responder and no language model. Ask me about Antiphon, the time, or a sum.';
  return firstSentences(passage.text, MAX_SENTENCES);
}

function firstSentences(text: string, count: number): string {
  const sentences = [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)].map(({ segment }) => segment);
  return sentences.slice(0, count).join('').trim();
}
