import type { AssistantMessage, AssistantPart, Message, Session } from '@antiphon/engine';
import { assistant, user } from '@antiphon/engine';
import type { HeardReport, LlmBackend, ReplyEvent } from '../interfaces/llm-backend.js';
import { orAborted } from './or-aborted.js';

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
  let present: Asked = { text: '', from: session.messages.length };
  const after = (change: () => void) => {
    settled = settled.then(change, change);
  };
  return {
    name: 'engine',
    async *reply(text, { signal, confirmed }): AsyncGenerator<ReplyEvent> {
      const asked: Asked = { text, from: undefined };
      present = asked;
      await settled;
      signal.throwIfAborted();
      asked.from = session.messages.length;
      const stream = session.stream(text, { signal });
      const running = new Set<string>();
      let said = '';
      let usedTool = false;
      let finish = () => {};
      settled = new Promise(resolve => {
        finish = resolve;
      });
      try {
        for await (const event of stream) {
          if (event.type === 'text_delta') {
            const delta = `${usedTool ? gap(said, event.delta) : ''}${event.delta}`;
            said += delta;
            usedTool = false;
            yield { type: 'text', delta };
          }
          // The engine runs a call when it is asked for the next event.
          else if (event.type === 'tool_call') await (confirmed && orAborted(confirmed, signal));
          else if (event.type === 'tool_start') {
            running.add(event.call.id);
            yield { type: 'tool_start', callId: event.call.id, name: event.call.name };
          }
          // A call that could not be run has a result too.
          else if (event.type === 'tool_result') {
            usedTool = true;
            if (running.delete(event.callId)) yield { type: 'tool_end', callId: event.callId, name: event.name };
          } else if (event.type === 'question') yield { type: 'text', delta: ` ${event.question}` };
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
      const asked = present;
      after(() => {
        const { from } = asked;
        // It was cut before it could be asked.
        if (from === undefined) return withdrawn ? undefined : session.replaceMessages([...session.messages, user(asked.text)]);
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
    noted(text): void {
      after(() => session.replaceMessages([...session.messages, user(text)]));
    },
    reset(): void {
      after(() => session.replaceMessages(session.messages.filter(message => message.role === 'system')));
    },
  };
}

/** What the user said, and where in the history it stands; nowhere until it was asked. */
interface Asked {
  readonly text: string;
  from: number | undefined;
}

/** What stands between the words before a tool and those after it, so that they do not run into each other. */
function gap(before: string, after: string): string {
  return before === '' || after === '' || /\s$/u.test(before) || /^\s/u.test(after) ? '' : ' ';
}

/** The turn as it was heard: assistant text beyond `heard` goes, calls and their results stay. */
function cutTurn(turn: readonly Message[], heard: string): Message[] {
  let left = heard.length;
  let before = '';
  let usedTool = false;
  return turn.flatMap((message): Message[] => {
    if (message.role === 'tool') usedTool = true;
    if (message.role !== 'assistant') return [message];
    const parts: readonly AssistantPart[] =
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    let cut = false;
    const kept = parts.flatMap((part): AssistantPart[] => {
      if (part.type !== 'text') return [part];
      if (usedTool && part.text !== '') {
        left = Math.max(0, left - gap(before, part.text).length);
        usedTool = false;
      }
      before += part.text;
      const text = part.text.slice(0, left);
      left -= text.length;
      if (text.length < part.text.length) cut = true;
      return text === '' ? [] : [{ ...part, text }];
    });
    if (!cut) return [message];
    return kept.some(part => part.type === 'text' || part.type === 'tool_call') ? [{ ...message, content: kept, interrupted: true }] : [];
  });
}
