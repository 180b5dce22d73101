// Histories that the API would refuse as they are.
import { assistant, system, toolResult, user } from '@antiphon/engine';
import { gemini } from '@antiphon/providers';
import { describe, expect, it } from 'vitest';
import { contextOf } from './support/run.js';

describe('a thread that begins with a call', () => {
  const messages = [
    assistant([
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_call', id: 'x', name: 'f', arguments: {}, rawArguments: '' },
    ]),
    toolResult('x', '1'),
    user('Go on.'),
  ];

  it.each(['generate-content', 'interactions'] as const)('is begun by the user for %s', async api => {
    const { body, warnings } = await gemini({ model: 'gemini-2.5-flash', api }).prepare!({ messages }, contextOf());
    const { contents, input } = JSON.parse(body);
    const text = '[The conversation begins.]';
    if (api === 'interactions') expect(input[0]).toEqual({ type: 'user_input', content: [{ type: 'text', text }] });
    else expect(contents[0]).toEqual({ role: 'user', parts: [{ text }] });
    expect(warnings.map(({ code }) => code)).toEqual(['repaired_history']);
  });
});

it.each(['generate-content', 'interactions'] as const)('a later system message without a word is left out for %s', async api => {
  const messages = [user('Hello.'), system(''), user('Go on.')];
  const { body, warnings } = await gemini({ model: 'gemini-2.5-flash', api }).prepare!({ messages }, contextOf());
  const { contents, input } = JSON.parse(body);
  const texts = (api === 'interactions' ? input : contents).flatMap((turn: { content?: []; parts?: [] }) => turn.content ?? turn.parts);
  expect(texts.map(({ text }: { text: string }) => text)).toEqual(['Hello.', 'Go on.']);
  expect(warnings).toEqual([]);
});
