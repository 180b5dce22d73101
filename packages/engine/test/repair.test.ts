import { createEngine, type Message, messageToolCalls, repairMessages, user } from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { setUp } from './support.js';

const roles = (messages: readonly { role: string }[]) => messages.map(message => message.role).join(' ');

describe('history that no longer fits', () => {
  const asked = { role: 'assistant', content: [{ type: 'tool_call', id: 'c', name: 'f', arguments: {}, rawArguments: '{}' }] } as const;
  const answer = { role: 'tool', callId: 'c', content: 'one' } as const;
  test.each<readonly [string, readonly object[], string]>([
    ['a call without a result at the end', [asked], 'user assistant tool'],
    ['a call without a result in the middle', [asked, user('Well?')], 'user assistant tool user'],
    ['a result that comes late', [asked, user('Well?'), answer], 'user assistant tool user'],
    ['two results for one call', [asked, answer, { ...answer, content: 'two' }], 'user assistant tool'],
    ['a result without a call', [answer], 'user'],
    ['an empty assistant message', [{ role: 'assistant', content: '' }, user('Well?')], 'user user'],
    ['an assistant message of empty parts', [{ role: 'assistant', content: [{ type: 'text', text: '' }] }], 'user'],
    ['the same id in two turns', [asked, answer, user('Again.'), asked, answer], 'user assistant tool user assistant tool'],
    ['the same id in two turns, the first unanswered', [asked, user('Again.'), asked, answer], 'user assistant tool user assistant tool'],
    ['an answer that was cut', [{ role: 'assistant', content: 'Half', interrupted: true }, user('Go on.')], 'user assistant user'],
  ])('%s is mended before it leaves', async (_, history, expected) => {
    const { chat, engine } = setUp(['Fine']);
    expect(await engine.chat([user('Hi'), ...(history as never[])])).toMatchObject({ status: 'completed' });
    expect(roles(chat.requests[0]?.messages ?? [])).toBe(expected);
  });

  test('a result belongs to the nearest call before it', async () => {
    const { chat, engine } = setUp(['Fine']);
    await engine.chat([user('Hi'), asked, user('Again.'), asked, answer]);
    const [first, second] = (chat.requests[0]?.messages ?? []).filter(message => message.role === 'tool');
    expect([first?.isError, second?.content]).toEqual([true, 'one']);
  });

  test('two calls of one message with the same id are told apart', async () => {
    const twice = { role: 'assistant', content: [...asked.content, ...asked.content] } as const;
    const { chat, engine } = setUp(['Fine']);
    await engine.chat([user('Hi'), twice, answer, { ...answer, content: 'two' }]);
    const sent = chat.requests[0]?.messages ?? [];
    const ids = sent.flatMap(message => (message.role === 'assistant' ? messageToolCalls(message).map(call => call.id) : []));
    expect(new Set(ids).size).toBe(2);
    expect(sent.flatMap(message => (message.role === 'tool' ? [[message.callId, message.content]] : []))).toEqual([
      [ids[0], 'one'],
      [ids[1], 'two'],
    ]);
  });
});

describe('laws of repair', () => {
  const id = fc.constantFrom('a', 'b', 'c');
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.constantFrom<Message>(
      user('Hi'),
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: '' },
      { role: 'assistant', content: 'Ok.' },
    ),
    fc.array(id, { maxLength: 3 }).map(
      (ids): Message => ({
        role: 'assistant',
        content: ids.map(callId => ({ type: 'tool_call', id: callId, name: 'f', arguments: {}, rawArguments: '{}' })),
      }),
    ),
    id.map((callId): Message => ({ role: 'tool', callId, content: 'result' })),
  );

  test('what was repaired is accepted, and repairing again changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 10 }), async thread => {
        const once = repairMessages(thread);
        const twice = repairMessages(once.messages);
        expect(twice.messages).toBe(once.messages);
        expect(twice.warnings).toEqual([]);
        if (once.messages === thread) expect(once.warnings).toEqual([]);
        if (once.messages.length === 0) return;
        const outcome = await createEngine({ chat: scripted(['Fine.']), retry: false }).generate([...once.messages]);
        expect(outcome.status).toBe('completed');
      }),
      { numRuns: 500 },
    );
  });

  test('no answer is lost that has an open call before it, and no other message is', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 10 }), thread => {
        const { messages, warnings } = repairMessages(thread);
        const spoken = (list: readonly Message[]) => list.filter(one => one.role === 'user' || one.role === 'system');
        expect(spoken(messages)).toEqual(spoken(thread));
        const left = warnings.filter(warning => warning.message.includes('left out') && warning.message.includes('result')).length;
        const kept = messages.filter(one => one.role === 'tool' && one.isError !== true).length;
        expect(kept + left).toBe(thread.filter(one => one.role === 'tool').length);
      }),
    );
  });
});
