// What a conversation becomes on the wire: tables by subject, then the law that no history is refused.
import { assistant, audioPart, filePart, imagePart, type Message, system, toolResult, user } from '@antiphon/engine';
import { describe, expect, test } from 'vitest';
import { build, call, opaque, own, thought, thread } from './support/anthropic-build.js';
import { refusal } from './support/anthropic-rules.js';

describe('messages', () => {
  const contentOf = (...messages: Message[]) => thread(...messages).body.messages;

  test('neighbours of one role become one message, instructions stand apart', () => {
    const { body, warnings } = thread(
      system('Be brief.'),
      system('Be kind.'),
      user('a'),
      user('b'),
      assistant('c'),
      assistant('d'),
      user('e'),
    );
    expect(body.system).toEqual([
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'Be kind.' },
    ]);
    expect(body.messages.map(({ role, content }) => [role, content.map(({ text }) => text)])).toEqual([
      ['user', ['a', 'b']],
      ['assistant', ['c', 'd']],
      ['user', ['e']],
    ]);
    expect(warnings).toEqual([]);
    expect(thread(user('a'), system('Now in French.'), user('b')).warnings.length).toBe(1);
  });

  test('calls and their results', () => {
    const messages = contentOf(
      user('x'),
      assistant([{ type: 'text', text: 'Let me see.' }, call('t1'), call('t2')]),
      toolResult('t1', 'fine'),
      toolResult('t2', 'no', { isError: true }),
      user('and?'),
    );
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 't1', name: 'look', input: { a: 1 } },
          { type: 'tool_use', id: 't2', name: 'look', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'fine' },
          { type: 'tool_result', tool_use_id: 't2', content: 'no', is_error: true },
          { type: 'text', text: 'and?' },
        ],
      },
    ]);
  });

  test.each<[string, Message, object, object[]]>([
    ['nothing', toolResult('t', ''), {}, []],
    ['a failure without a word', toolResult('t', ' ', { isError: true }), { content: 'The tool failed.', is_error: true }, []],
    ['JSON', toolResult('t', [{ type: 'json', value: { a: [1] } }]), { content: [{ type: 'text', text: '{"a":[1]}' }] }, []],
    [
      'a picture',
      toolResult('t', [imagePart('aaaa', 'image/png')]),
      { content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aaaa' } }] },
      [],
    ],
    ['empty parts', toolResult('t', [{ type: 'text', text: '' }]), {}, []],
    [
      'a picture of a failure',
      toolResult('t', [imagePart({ url: 'https://a.test/x.png' })], { isError: true }),
      { content: [{ type: 'text', text: '[image: see below]' }], is_error: true },
      [{ type: 'image', source: { type: 'url', url: 'https://a.test/x.png' } }],
    ],
  ])('a result that is %s', (_, result, fields, beside) => {
    const { body } = thread(user('x'), assistant([call('t')]), result);
    expect(body.messages[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 't', ...fields }, ...beside]);
    expect(refusal(body)).toBeUndefined();
  });

  test.each<[string, Parameters<typeof user>[0], object, number]>([
    ['a JPEG', [imagePart('aaaa', 'image/jpg')], { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'aaaa' } }, 0],
    [
      'a picture with a wish for detail',
      [imagePart({ url: 'https://a.test/x' }, 'image/png', 'high')],
      { type: 'image', source: { type: 'url', url: 'https://a.test/x' } },
      1,
    ],
    [
      'a data URL',
      [imagePart({ url: 'data:image/gif;base64,aaaa' })],
      { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'aaaa' } },
      0,
    ],
    [
      'a picture that it does not know',
      [imagePart('aaaa', 'image/tiff')],
      { type: 'text', text: '[image (image/tiff) that cannot be shown]' },
      1,
    ],
    [
      'a PDF',
      [filePart('aaaa', 'application/pdf', 'a.pdf')],
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aaaa' }, title: 'a.pdf' },
      0,
    ],
    [
      'the address of a PDF',
      [filePart({ url: 'https://a.test/a.pdf' }, 'application/pdf')],
      { type: 'document', source: { type: 'url', url: 'https://a.test/a.pdf' } },
      0,
    ],
    [
      'a text file',
      [filePart(btoa('a,b'), 'text/csv; charset=utf-8', 'a.csv')],
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' }, title: 'a.csv' },
      0,
    ],
    [
      'a picture as a file',
      [filePart('aaaa', 'image/webp')],
      { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'aaaa' } },
      0,
    ],
    ['an archive', [filePart('aaaa', 'application/zip')], { type: 'text', text: '[file (application/zip) that cannot be shown]' }, 1],
    ['sound', [audioPart('aaaa')], { type: 'text', text: '[audio (audio/wav) that cannot be shown]' }, 1],
  ])('%s', (_, content, block, warned) => {
    const { body, warnings } = thread(user(content));
    expect([body.messages[0]?.content, warnings.length]).toEqual([[block], warned]);
  });

  test('thinking goes back with its signature and in its place; that of others does not', () => {
    const redacted = { type: 'redacted_thinking', data: 'X' };
    const elsewhere = { type: 'reasoning' as const, text: 'No.', providerState: { openai: { signature: 'sig' } } };
    const said = assistant([thought('Hm.', 'sig-1'), opaque(redacted), thought('cut off'), elsewhere, thought('', 'sig-2'), call('t')]);
    expect(contentOf(user('x'), said, toolResult('t', 'y'))[1]?.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'sig-1' },
      redacted,
      { type: 'thinking', thinking: '', signature: 'sig-2' },
      { type: 'tool_use', id: 't', name: 'look', input: { a: 1 } },
    ]);
  });

  test.each([
    ['claude-opus-5-5', {}, { type: 'adaptive' }],
    ['claude-sonnet-5-5', { reasoning: 'low' as const }, { type: 'adaptive', display: 'summarized' }],
    ['claude-sonnet-5-5', { reasoning: 'none' as const }, undefined],
    ['claude-opus-5', {}, undefined],
  ])('%s %j may leave out thinking whose history was changed', (model, settings, thinking) => {
    const messages = [user('x'), assistant([thought('Hm.', 'sig-1'), { type: 'text', text: 'y' }]), user('z')];
    const { body, betas } = build({ messages, ...settings }, model);
    const lenient = thinking && { ...thinking, block_binding: { prefix_mismatch_behavior: 'drop_block' } };
    if (lenient) expect([body.thinking, betas]).toEqual([lenient, ['thinking-binding-controls-2026-08-01']]);
    else expect([JSON.stringify(body).includes('block_binding'), betas]).toEqual([false, []]);
    expect(JSON.stringify(build(settings, model).body)).not.toContain('block_binding');
  });

  test('citations go back with their text, sources and files of the server by themselves not', () => {
    const citations = [{ type: 'char_location', cited_text: 'x' }];
    const file = { type: 'file' as const, mediaType: 'text/csv', url: 'https://api.anthropic.com/v1/files/file_1/content' };
    const said = assistant([{ type: 'text', text: 'So.', ...own({ citations }) }, { type: 'source', url: 'https://a.test' }, file]);
    const { body, warnings } = thread(user('x'), said, user('y'));
    expect([body.messages[1]?.content, warnings]).toEqual([[{ type: 'text', text: 'So.', citations }], []]);
    expect(
      thread(
        user('x'),
        assistant([
          { type: 'text', text: 'So.' },
          { ...file, url: 'https://a.test/f' },
        ]),
        user('y'),
      ).warnings.length,
    ).toBe(1);
  });

  test('a call of a server tool that was cut off stays while the turn is open, and goes when it is over', () => {
    const use = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} };
    const said = assistant([{ type: 'text', text: 'Wait.' }, opaque(use)]);
    expect(contentOf(user('x'), said)[1]?.content).toContainEqual(use);
    expect(contentOf(user('x'), assistant([opaque(use), call('t')]), toolResult('t', 'y'))[1]?.content).toContainEqual(use);
    const over = thread(user('x'), said, user('Never mind.'));
    expect([over.body.messages[1]?.content, over.warnings.length]).toEqual([[{ type: 'text', text: 'Wait.' }], 1]);
    const alone = thread(user('x'), assistant([opaque(use)]), user('Never mind.'));
    expect(alone.body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x' },
          { type: 'text', text: 'Never mind.' },
        ],
      },
    ]);
  });

  test('code that waits for a call is answered in its container', () => {
    const caller = { type: 'code_execution_20250825', tool_id: 's1' };
    const state = { type: 'reasoning' as const, text: '', ...own({ message: { container: { id: 'c_1' } } }) };
    const waiting = [user('x'), assistant([call('t', own({ caller })), state]), toolResult('t', 'y')];
    const { body } = thread(...waiting);
    expect(body.container).toBe('c_1');
    expect(body.messages[1]?.content).toEqual([{ type: 'tool_use', id: 't', name: 'look', input: { a: 1 }, caller }]);
    expect(thread(...waiting, user('More.')).body.container).toBeUndefined();
  });

  test('ids and names of other providers are made to fit, and no two become one', () => {
    const ids = ['functions.look:0', 'functions_look_0', 'call_a|fc_b', '', 'é', 'ü'];
    const said = assistant(ids.map(id => call(id, { name: 'a b' })));
    const { body } = thread(user('x'), said, ...ids.map(id => toolResult(id, 'y')));
    const sent = body.messages[1]!.content.map(({ id }) => id);
    expect(new Set(sent).size).toBe(ids.length);
    expect(sent[1]).toBe('functions_look_0');
    expect(body.messages[2]?.content.map(block => block.tool_use_id)).toEqual(sent);
    expect(refusal(body)).toBeUndefined();
    expect(body.messages[1]?.content[0]?.name).toBe('a_b');
  });

  test('thinking that nothing came of is not sent; an answer that began without it goes on without', () => {
    const { body, warnings } = thread(user('x'), assistant([thought('Hm.', 'sig-1')]), user('y'));
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x' },
          { type: 'text', text: 'y' },
        ],
      },
    ]);
    expect(warnings.map(({ code }) => code)).toEqual(['repaired_history']);
    const messages = [user('x'), assistant([call('t')]), toolResult('t', 'y')];
    const loop = build({ messages, reasoning: 'low' });
    expect([loop.body.thinking, loop.warnings.map(({ setting }) => setting)]).toEqual([undefined, ['reasoning']]);
    expect(build({ messages: [...messages, assistant('z'), user('And?')], reasoning: 'low' }).body.thinking).toBeDefined();
  });

  test('the user begins, and an answer to go on with ends in no white space', () => {
    const { body, warnings } = thread(assistant('Hello, who is there?'), user('Me.'), assistant('Nice to \n'));
    expect(body.messages.map(({ role, content }) => [role, content[0]?.text])).toEqual([
      ['user', '[The conversation begins.]'],
      ['assistant', 'Hello, who is there?'],
      ['user', 'Me.'],
      ['assistant', 'Nice to'],
    ]);
    expect(warnings.map(({ code }) => code)).toEqual(['repaired_history']);
    expect(thread(system('Greet the user.')).body.messages.length).toBe(1);
  });
});
