import { createEngine, createSession, messageText, system, tool } from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { engineBackend, type ReplyEvent } from '@antiphon/voice';
import { describe, expect, test } from 'vitest';

const lookUp = tool({ name: 'look_up', description: 'Looks something up.', run: () => 'found' });

async function ask(backend: ReturnType<typeof engineBackend>, text: string, stopAfter = Number.POSITIVE_INFINITY): Promise<ReplyEvent[]> {
  const abort = new AbortController();
  const events: ReplyEvent[] = [];
  for await (const event of backend.reply(text, { signal: abort.signal })) {
    events.push(event);
    if (events.length >= stopAfter) break;
  }
  abort.abort();
  return events;
}

const history = (session: ReturnType<typeof createSession>) => session.messages.map(message => `${message.role}: ${messageText(message)}`);

describe('engineBackend', () => {
  test('speaks text and tells of tools, and never reasoning or arguments', async () => {
    const chat = scripted([{ reasoning: 'secret', text: 'One moment.', toolCalls: [{ name: 'look_up' }] }, 'Here it is.']);
    const session = createSession({ engine: createEngine({ chat, tools: [lookUp] }) });
    const events = await ask(engineBackend(session), 'Find it.');
    expect(events.map(event => event.type)).toEqual(['text', 'text', 'tool_start', 'tool_end', 'text', 'text', 'text', 'done']);
    expect(JSON.stringify(events)).not.toContain('secret');
  });

  test('a reply heard to its end stays whole', async () => {
    const session = createSession({ engine: createEngine({ chat: scripted(['Hello there, friend.']) }) });
    const backend = engineBackend(session);
    await ask(backend, 'Hi');
    backend.heard({ text: 'Hello there, friend.', interrupted: false });
    expect(history(session)).toEqual(['user: Hi', 'assistant: Hello there, friend.']);
  });

  test('a cut reply is cut in history, also when the model had finished, and the next request holds exactly that', async () => {
    const chat = scripted(['One two three four.', 'Okay.']);
    const session = createSession({ engine: createEngine({ chat }) });
    const backend = engineBackend(session);
    await ask(backend, 'Count.');
    backend.heard({ text: 'One two', interrupted: true });
    await ask(backend, 'Stop.');
    expect(chat.requests[1]?.messages.map(messageText)).toEqual(['Count.', 'One two', 'Stop.']);
    expect(session.messages[1]).toMatchObject({ interrupted: true });
  });

  test('a reply that is left early is cut as soon as its turn has ended', async () => {
    const chat = scripted(['One two three four.', 'Okay.']);
    const session = createSession({ engine: createEngine({ chat }) });
    const backend = engineBackend(session);
    await ask(backend, 'Count.', 2);
    backend.heard({ text: 'One', interrupted: true });
    await ask(backend, 'Stop.');
    expect(chat.requests[1]?.messages.map(messageText)).toEqual(['Count.', 'One', 'Stop.']);
  });

  test('nothing heard leaves no assistant message', async () => {
    const session = createSession({ engine: createEngine({ chat: scripted(['Never heard.', 'Okay.']) }) });
    const backend = engineBackend(session);
    await ask(backend, 'One.');
    backend.heard({ text: '', interrupted: true });
    await ask(backend, 'Two.');
    expect(history(session)).toEqual(['user: One.', 'user: Two.', 'assistant: Okay.']);
  });

  test('a withdrawn turn leaves nothing, not even its question', async () => {
    const session = createSession({
      engine: createEngine({ chat: scripted(['Hello John.', 'Hello John Doe.']) }),
      messages: [system('Be brief.')],
    });
    const backend = engineBackend(session);
    await ask(backend, 'I am John');
    backend.heard({ text: '', interrupted: true, withdrawn: true });
    await ask(backend, 'I am John Doe');
    expect(history(session)).toEqual(['system: Be brief.', 'user: I am John Doe', 'assistant: Hello John Doe.']);
  });

  test('results of tools that were ready are kept when their reply is cut', async () => {
    const chat = scripted([{ text: 'Let me look.', toolCalls: [{ id: 'c1', name: 'look_up' }] }, 'It is here.', 'Okay.']);
    const session = createSession({ engine: createEngine({ chat, tools: [lookUp] }) });
    const backend = engineBackend(session);
    await ask(backend, 'Find it.');
    backend.heard({ text: 'Let me', interrupted: true });
    await ask(backend, 'Stop.');
    expect(history(session)).toEqual(['user: Find it.', 'assistant: Let me', 'tool: found', 'user: Stop.', 'assistant: Okay.']);
  });

  test('a model that fails throws, and the conversation can go on', async () => {
    const session = createSession({ engine: createEngine({ chat: scripted([new Error('down'), 'Back.']), retry: false }) });
    const backend = engineBackend(session);
    await expect(ask(backend, 'One.')).rejects.toThrow('down');
    backend.heard({ text: '', interrupted: true });
    expect((await ask(backend, 'Two.')).length).toBe(2);
  });

  test('what the agent says unasked is part of the conversation', async () => {
    const session = createSession({ engine: createEngine({ chat: scripted(['Fine.']) }) });
    const backend = engineBackend(session);
    backend.said?.({ text: 'Welcome.', interrupted: false });
    await ask(backend, 'Hi.');
    expect(history(session)).toEqual(['assistant: Welcome.', 'user: Hi.', 'assistant: Fine.']);
    backend.reset();
    await ask(backend, 'x').catch(() => {});
    expect(history(session)[0]).toBe('user: x');
  });
});

test('what was said last, before the session was closed, stands in the history', async () => {
  const session = createSession({ engine: createEngine({ chat: scripted(['Hello.']) }) });
  const backend = engineBackend(session);
  for await (const _ of backend.reply('Hi', { signal: new AbortController().signal }));
  backend.heard({ text: 'Hello.', interrupted: false });
  backend.noted?.('And one more thing');
  await new Promise(setImmediate);
  expect(session.messages.at(-1)).toEqual({ role: 'user', content: 'And one more thing' });
});
