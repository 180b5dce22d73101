import type { AssistantMessage, AssistantPart, Message, Session } from '@antiphon/engine';
import { assistant } from '@antiphon/engine';
import type { HeardReport, LlmBackend, ReplyEvent } from '../interfaces/llm-backend.js';

/**
 * An engine session as the mind of a voice session. Its history holds what was heard: a cut reply is cut there too, and one of which nothing
 * was heard leaves no assistant text; results of tools that were ready stay.
 *
 * ```ts
 * const llm = engineBackend(createSession({ engine }));
 * ```
 */
export function engineBackend(session: Session): LlmBackend {
  // A turn that was cut commits a moment later; what was heard of it can be entered only then.
  let settled: Promise<void> = Promise.resolve();
  let base = session.messages.length;
  const after = (change: () => void) => {
    settled = settled.then(change, change);
  };
  return {
    name: 'engine',
    async *reply(user, { signal, confirmed }): AsyncGenerator<ReplyEvent> {
      await settled;
      signal.throwIfAborted();
      base = session.messages.length;
      const stream = session.stream(user, { signal });
      let finish = () => {};
      settled = new Promise(resolve => {
        finish = resolve;
      });
      try {
        for await (const event of stream) {
          if (event.type === 'text_delta') yield { type: 'text', delta: event.delta };
          // The engine runs a call when it is asked for the next event.
          else if (event.type === 'tool_call') await (confirmed && orAborted(confirmed, signal));
          else if (event.type === 'tool_start') yield { type: 'tool_start', callId: event.call.id, name: event.call.name };
          else if (event.type === 'tool_result') yield { type: 'tool_end', callId: event.callId, name: event.name };
          else if (event.type === 'question') yield { type: 'text', delta: ` ${event.question}` };
          else if (event.type === 'end') {
            const { outcome } = event;
            if (outcome.status === 'failed') throw outcome.error;
            if (outcome.status === 'interrupted') {
              yield { type: 'done', interrupted: typeof outcome.reason === 'string' ? outcome.reason : `halt: ${outcome.reason.halt}` };
            } else yield { type: 'done' };
          }
        }
      } finally {
        finish();
      }
    },
    heard({ text, interrupted, withdrawn }: HeardReport): void {
      if (!interrupted) return;
      const from = base;
      after(() => {
        const before = session.messages.slice(0, from);
        const turn = session.messages.slice(from);
        session.replaceMessages([...before, ...(withdrawn ? [] : cutTurn(turn, text))]);
      });
    },
    said({ text, interrupted }: HeardReport): void {
      after(() => {
        const message: AssistantMessage = { ...assistant(text), ...(interrupted ? { interrupted } : {}) };
        session.replaceMessages([...session.messages, message]);
      });
    },
    reset(): void {
      after(() => session.replaceMessages(session.messages.filter(message => message.role === 'system')));
    },
  };
}

/** Waits, but not longer than the signal allows. */
function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', done, { once: true });
    void work.then(done);
  });
}

/** The turn as it was heard: assistant text beyond `heard` goes, calls and their results stay. */
function cutTurn(turn: readonly Message[], heard: string): Message[] {
  let left = heard.length;
  return turn.flatMap((message): Message[] => {
    if (message.role !== 'assistant') return [message];
    const parts: readonly AssistantPart[] =
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    let cut = false;
    const kept = parts.flatMap((part): AssistantPart[] => {
      if (part.type !== 'text') return [part];
      const text = part.text.slice(0, left);
      left -= text.length;
      if (text.length < part.text.length) cut = true;
      return text === '' ? [] : [{ ...part, text }];
    });
    if (!cut) return [message];
    return kept.some(part => part.type === 'text' || part.type === 'tool_call') ? [{ ...message, content: kept, interrupted: true }] : [];
  });
}
