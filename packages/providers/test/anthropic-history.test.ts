// The law that no well-formed history is refused, whoever wrote it.
import { assistant, filePart, imagePart, type Message, system, toolResult, user } from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { build, call, opaque, thought } from './support/anthropic-build.js';
import { refusal } from './support/anthropic-rules.js';

describe('law', () => {
  const word = fc.constantFrom('', ' ', '\n', 'a', 'Grüße 🎉');
  const file = fc.constantFrom(
    imagePart('aaaa'),
    imagePart('aaaa', 'image/bmp'),
    filePart('aaaa', 'application/pdf'),
    filePart('', 'text/plain'),
  );
  const userMessage = fc.oneof(
    word.map(user),
    fc
      .array(
        fc.oneof(
          word.map(text => ({ type: 'text' as const, text })),
          file,
        ),
        { maxLength: 3 },
      )
      .map(user),
  );
  const spoken = fc.oneof(
    word.map(text => ({ type: 'text' as const, text })),
    fc.constantFrom(thought('x', 'sig'), thought('x'), thought('', 'sig'), opaque({ type: 'redacted_thinking', data: 'x' })),
    fc.constantFrom(
      opaque({ type: 'server_tool_use', id: 's1', name: 'f', input: {} }),
      opaque({ type: 'server_tool_use', id: 's2', name: 'f', input: {} }),
    ),
  );
  const result = fc.oneof(
    word,
    fc.array(
      fc.oneof(
        word.map(text => ({ type: 'text' as const, text })),
        file,
      ),
      { maxLength: 2 },
    ),
  );
  const turn = fc.record({ said: fc.array(spoken, { maxLength: 4 }), results: fc.array(fc.tuple(result, fc.boolean()), { maxLength: 3 }) });
  let next = 0;
  const assistantTurn = turn.map(({ said, results }): Message[] => {
    const ids = results.map(() => `c.${next++}`);
    const names = ['', 'look', 'a b', 'x'.repeat(200)];
    const content = [...said, ...ids.map((id, i) => call(id, { name: names[i % 4] }))];
    return [assistant(content), ...results.map(([content, isError], i) => toolResult(ids[i]!, content, { isError }))];
  });
  const history = fc
    .array(
      fc.oneof(
        userMessage.map(message => [message]),
        word.map(text => [system(text)]),
        assistantTurn,
      ),
      { maxLength: 6 },
    )
    .map(turns => turns.flat());

  test('no well-formed history is refused, and none is changed', () => {
    fc.assert(
      fc.property(
        history,
        fc.constantFrom('short' as const, undefined),
        fc.constantFrom('low' as const, undefined),
        (messages, retention, reasoning) => {
          const before = JSON.stringify(messages);
          const request = { messages, ...(retention ? { promptCache: { retention } } : {}), ...(reasoning ? { reasoning } : {}) };
          expect(refusal(build(request).body)).toBeUndefined();
          expect(JSON.stringify(messages)).toBe(before);
        },
      ),
      { numRuns: 300 },
    );
  });
});
