import {
  assistant,
  type ChatRequest,
  filePart,
  imagePart,
  type Message,
  messageToolCalls,
  system,
  toolResult,
  user,
} from '@antiphon/engine';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CallIdRule, withCallIds } from '../src/hand-over/call-ids.js';
import { PROFILES, type Profile, profileNamed } from '../src/openai-chat/profiles.js';
import { buildRequest } from '../src/openai-chat/request.js';

type Body = Record<string, unknown> & { messages: Record<string, unknown>[] };

function build(request: Partial<ChatRequest>, profile: string | Profile = 'openai-compatible') {
  const { body, warnings } = buildRequest(
    { messages: [user('Hi')], ...request },
    'm',
    typeof profile === 'string' ? profileNamed(profile)! : profile,
  );
  return { body: JSON.parse(body) as Body, warnings, raw: body };
}

const call = (id: string, rawArguments: string, more: object = {}) => ({
  type: 'tool_call' as const,
  id,
  name: 'write',
  arguments: { a: 1 },
  rawArguments,
  ...more,
});
const TOOL = { name: 'write', description: 'Writes', inputSchema: { type: 'object', properties: {} } };

describe('request: settings', () => {
  it('the least that is sent', () => {
    expect(build({}).body).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it.each<[string, Partial<ChatRequest>, string, object, string?]>([
    ['model of the request', { model: 'other' }, 'openai', { model: 'other' }],
    ['temperature 0', { temperature: 0 }, 'openai', { temperature: 0 }],
    ['topP', { topP: 0.5 }, 'openai', { top_p: 0.5 }],
    ['maxTokens at OpenAI', { maxTokens: 9 }, 'openai', { max_completion_tokens: 9 }],
    ['maxTokens elsewhere', { maxTokens: 9 }, 'ollama', { max_tokens: 9 }],
    ['stop', { stop: ['a', 'b'] }, 'openai', { stop: ['a', 'b'] }],
    ['no stop', { stop: [] }, 'openai', { stop: undefined }],
    ['seed', { seed: 0 }, 'openai', { seed: 0 }],
    ['seed at Mistral', { seed: 7 }, 'mistral', { random_seed: 7, seed: undefined, stream_options: undefined }],
    ['seed where there is none', { seed: 7 }, 'deepseek', { seed: undefined }, 'seed'],
    ['effort', { reasoning: 'low' }, 'openai', { reasoning_effort: 'low' }],
    ['effort none', { reasoning: 'none' }, 'openai', { reasoning_effort: 'none' }],
    ['effort at OpenRouter', { reasoning: 'high' }, 'openrouter', { reasoning: { effort: 'high' } }],
    ['effort, the nearest', { reasoning: 'minimal' }, 'ollama', { reasoning_effort: 'low' }, 'reasoning'],
    ['effort as a switch: off', { reasoning: 'none' }, 'deepseek', { thinking: { type: 'disabled' } }],
    ['effort as a switch: on', { reasoning: 'high' }, 'zai', { thinking: { type: 'enabled' } }, 'reasoning'],
    ['effort at Alibaba', { reasoning: 'none' }, 'alibaba', { enable_thinking: false }],
    [
      'tools',
      { tools: [TOOL] },
      'openai',
      {
        tools: [{ type: 'function', function: { name: 'write', description: 'Writes', parameters: TOOL.inputSchema } }],
        tool_choice: undefined,
      },
    ],
    [
      'tool without description',
      { tools: [{ ...TOOL, description: '' }] },
      'openai',
      { tools: [{ type: 'function', function: { name: 'write', parameters: TOOL.inputSchema } }] },
    ],
    ['choice required', { tools: [TOOL], toolChoice: 'required' }, 'openai', { tool_choice: 'required' }],
    [
      'choice of one',
      { tools: [TOOL], toolChoice: { tool: 'write' } },
      'openai',
      { tool_choice: { type: 'function', function: { name: 'write' } } },
    ],
    ['choice where it cannot be made', { tools: [TOOL], toolChoice: 'required' }, 'ollama', { tool_choice: undefined }, 'toolChoice'],
    ['choice none where it cannot be made', { tools: [TOOL], toolChoice: 'none' }, 'ollama', { tools: undefined, tool_choice: undefined }],
    ['choice none without tools', { toolChoice: 'none' }, 'openai', { tool_choice: undefined }],
    ['choice required without tools', { toolChoice: 'required' }, 'openai', { tool_choice: undefined }, 'toolChoice'],
    [
      'own options',
      { providerOptions: { openai: { logit_bias: { a: 1 } }, groq: { x: 1 } } },
      'openai',
      { logit_bias: { a: 1 }, x: undefined },
    ],
    ['options of the dialect', { providerOptions: { openai: { top_k: 4 } } }, 'vllm', { top_k: 4 }],
    [
      'options of the profile before those of the dialect',
      { providerOptions: { openai: { a: 1 }, vllm: { b: 2 } } },
      'vllm',
      { a: undefined, b: 2 },
    ],
    [
      'an option over a setting',
      { temperature: 1, providerOptions: { openai: { temperature: 0.2 } } },
      'openai',
      { temperature: 0.2 },
      'temperature',
    ],
  ])('%s', (_, request, profile, expected, warning) => {
    const { body, warnings } = build(request, profile);
    expect({ ...body, ...Object.fromEntries(Object.keys(expected).map(key => [key, body[key]])) }).toMatchObject(expected);
    expect(warnings.map(item => item.setting)).toEqual(warning === undefined ? [] : [warning]);
  });

  it('an option named __proto__ stays an option', () => {
    const { raw } = build({ providerOptions: { openai: JSON.parse('{"__proto__":{"x":1}}') } }, 'openai');
    expect(raw).toContain('"__proto__":{"x":1}');
    expect(build({ providerOptions: {} }, { ...profileNamed('openai')!, name: 'constructor' }).warnings).toEqual([]);
  });
});

describe('request: messages', () => {
  const PNG = imagePart(Uint8Array.of(1, 2, 3), 'image/png', 'low');
  it.each<[string, Message[], string, object[], RegExp?]>([
    ['system', [system('S')], 'openai', [{ role: 'system', content: 'S' }]],
    ['user, one text part', [user([{ type: 'text', text: 'a' }])], 'openai', [{ role: 'user', content: 'a' }]],
    [
      'image',
      [user([{ type: 'text', text: 'a' }, PNG])],
      'openai',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID', detail: 'low' } },
          ],
        },
      ],
    ],
    [
      'image by URL',
      [user([imagePart({ url: 'https://a.test/x.png' })])],
      'openai',
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.test/x.png' } }] }],
    ],
    [
      'image where there are none',
      [user([PNG])],
      'deepseek',
      [{ role: 'user', content: '[image (image/png) that cannot be shown]' }],
      /takes no image/,
    ],
    [
      'audio',
      [user([{ type: 'audio', mediaType: 'audio/mpeg', data: 'AAAA' }])],
      'openai',
      [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }] }],
    ],
    [
      'audio where there is none',
      [user([{ type: 'audio', mediaType: 'audio/wav', data: 'AAAA' }])],
      'groq',
      [{ role: 'user', content: [{ type: 'text', text: '[audio (audio/wav) that cannot be shown]' }] }],
      /takes no audio/,
    ],
    [
      'PDF',
      [user([filePart(Uint8Array.of(1), 'application/pdf', 'a.pdf')])],
      'openai',
      [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AQ==' } }] }],
    ],
    [
      'text file',
      [user([filePart(new TextEncoder().encode('é'), 'text/plain', 'a.txt')])],
      'ollama',
      [{ role: 'user', content: [{ type: 'text', text: 'File a.txt:\né' }] }],
    ],
    [
      'PDF where there are none',
      [user([filePart(Uint8Array.of(1), 'application/pdf')])],
      'ollama',
      [{ role: 'user', content: [{ type: 'text', text: '[file (application/pdf) that cannot be shown]' }] }],
      /takes no file/,
    ],
    ['assistant text', [assistant('a')], 'openai', [{ role: 'assistant', content: 'a' }]],
    ['assistant with nothing to say', [assistant(''), assistant([{ type: 'reasoning', text: 'hm' }])], 'openai', [], /left out/],
    [
      'call, its own text kept',
      [assistant([call('a', '{ "a": 1 }')])],
      'openai',
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'write', arguments: '{ "a": 1 }' } }],
        },
      ],
    ],
    [
      'call with broken text',
      [assistant([call('a', '{"a":')])],
      'ollama',
      [{ role: 'assistant', content: '', tool_calls: [{ id: 'a', type: 'function', function: { name: 'write', arguments: '{"a":1}' } }] }],
    ],
    [
      'call with no text',
      [assistant([{ type: 'text', text: 't' }, call('a', '')])],
      'openai',
      [{ role: 'assistant', content: 't', tool_calls: [{ id: 'a', type: 'function', function: { name: 'write', arguments: '{"a":1}' } }] }],
    ],
    [
      'reasoning stays here',
      [
        assistant([
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 't' },
        ]),
      ],
      'openai',
      [{ role: 'assistant', content: 't' }],
    ],
    [
      'reasoning goes back',
      [
        assistant([
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 't' },
        ]),
      ],
      'deepseek',
      [{ role: 'assistant', content: 't', reasoning_content: 'hm' }],
    ],
    [
      'a user after tool results, where an answer has to stand between',
      [assistant([call('abcdefghi', '{}')]), toolResult('abcdefghi', 'r'), user('b'), user('c')],
      'mistral',
      [
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'abcdefghi', type: 'function', function: { name: 'write', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'abcdefghi', content: 'r' },
        { role: 'assistant', content: '…' },
        { role: 'user', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    ],
    [
      'a file by its address where that is not taken',
      [user([{ type: 'file', mediaType: 'application/pdf', url: 'https://x.test/a.pdf' }])],
      'openai',
      [{ role: 'user', content: [{ type: 'text', text: '[file (application/pdf) that cannot be shown]' }] }],
      /takes no file/,
    ],
    [
      'sealed reasoning goes back',
      [
        assistant([
          { type: 'reasoning', text: 'hm', providerState: { 'github-copilot': { reasoning_opaque: 'sealed' } } },
          { type: 'text', text: 't' },
        ]),
      ],
      'github-copilot',
      [{ role: 'assistant', content: 't', reasoning_text: 'hm', reasoning_opaque: 'sealed' }],
    ],
    [
      'reasoning without a seal stays behind where one is wanted',
      [
        assistant([
          { type: 'reasoning', text: 'hm', providerState: { openrouter: { reasoning_details: [] } } },
          { type: 'text', text: 't' },
        ]),
      ],
      'github-copilot',
      [{ role: 'assistant', content: 't' }],
      /Reasoning in an earlier answer cannot be sent/,
    ],
    [
      'several texts where content is no list',
      [
        user([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ]),
      ],
      'deepseek',
      [{ role: 'user', content: 'a\n\nb' }],
    ],
    [
      'a picture where content is no list',
      [user([{ type: 'text', text: 'a' }, PNG])],
      'deepseek',
      [{ role: 'user', content: 'a\n\n[image (image/png) that cannot be shown]' }],
      /takes no image/,
    ],
    [
      'reasoning details go back',
      [
        assistant([
          {
            type: 'reasoning',
            text: 'hm',
            providerState: { openrouter: { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] } },
          },
          { type: 'text', text: 't' },
        ]),
      ],
      'openrouter',
      [{ role: 'assistant', content: 't', reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }],
    ],
    [
      'state of another provider does not',
      [
        assistant([
          { type: 'reasoning', text: '', providerState: { anthropic: { signature: 's' } } },
          { type: 'text', text: 't' },
        ]),
      ],
      'openrouter',
      [{ role: 'assistant', content: 't' }],
      /Reasoning in an earlier answer cannot be sent to openrouter/,
    ],
    [
      'signature of a call goes back',
      [assistant([call('a', '{}', { providerState: { google: { extra_content: { google: { thought_signature: 's' } } } } })])],
      'google',
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'a',
              type: 'function',
              function: { name: 'write', arguments: '{}' },
              extra_content: { google: { thought_signature: 's' } },
            },
          ],
        },
      ],
    ],
    [
      'sources are not sent',
      [
        assistant([
          { type: 'text', text: 't' },
          { type: 'source', url: 'https://a.test' },
        ]),
      ],
      'openai',
      [{ role: 'assistant', content: 't' }],
    ],
    ['tool result', [toolResult('a', 'r')], 'openai', [{ role: 'tool', tool_call_id: 'a', content: 'r' }]],
    [
      'tool result in parts',
      [
        toolResult('a', [
          { type: 'text', text: 'r' },
          { type: 'json', value: { b: [1] } },
        ]),
      ],
      'openai',
      [{ role: 'tool', tool_call_id: 'a', content: 'r\n{"b":[1]}' }],
    ],
    [
      'pictures of tools follow the last result',
      [toolResult('a', [PNG]), toolResult('b', 'r'), user('and?')],
      'openai',
      [
        { role: 'tool', tool_call_id: 'a', content: '[image (image/png): see the next user message]' },
        { role: 'tool', tool_call_id: 'b', content: 'r' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What the tools returned beside text:' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID', detail: 'low' } },
          ],
        },
        { role: 'user', content: 'and?' },
      ],
      /follows in a user message/,
    ],
    [
      'pictures of tools where there are none',
      [toolResult('a', [PNG])],
      'deepseek',
      [{ role: 'tool', tool_call_id: 'a', content: '[image (image/png) that cannot be shown]' }],
      /takes no image/,
    ],
  ])('%s', (_, messages, profile, expected, warning) => {
    const { body, warnings } = build({ messages }, profile);
    expect(body.messages).toEqual(expected);
    if (warning) expect(warnings.map(item => item.message).join('\n')).toMatch(warning);
    else expect(warnings).toEqual([]);
  });

  it('a developer role by flag', () => {
    expect(build({ messages: [system('S')] }, { ...profileNamed('openai')!, systemRole: 'developer' }).body.messages[0]?.role).toBe(
      'developer',
    );
  });
});

describe('ids of tool calls', () => {
  const history = (ids: string[]): Message[] => ids.flatMap(id => [assistant([call(id, '{}')]), toolResult(id, 'r')]);
  const RULE: Record<CallIdRule, RegExp> = {
    any: /^.+$/s,
    'max-40': /^.{1,40}$/s,
    'word-64': /^[A-Za-z0-9_-]{1,64}$/,
    'nine-alphanumeric': /^[A-Za-z0-9]{9}$/,
  };
  /** The ids of the calls, and those of their results, as they go out. */
  const idsOf = (messages: readonly Message[], rule: CallIdRule) => {
    const out = withCallIds(messages, rule);
    const calls = out.flatMap(message => (message.role === 'assistant' ? messageToolCalls(message).map(({ id }) => id) : []));
    return { calls, results: out.flatMap(message => (message.role === 'tool' ? message.callId : [])) };
  };

  it.each(Object.keys(RULE) as CallIdRule[])('fit the rule "%s", stay distinct and stay the same', rule => {
    const id = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.stringMatching(/^[A-Za-z0-9]{9}$/),
      fc.constantFrom('functions.x:0', 'call_a|fc_b', 'x'.repeat(450), '__proto__', ''),
    );
    fc.assert(
      fc.property(fc.array(id, { maxLength: 12 }), ids => {
        const { calls, results } = idsOf(history(ids), rule);
        expect(new Set(calls).size).toBe(ids.length);
        expect(results).toEqual(calls);
        for (const item of calls) expect(item).toMatch(RULE[rule]);
        // A longer history gives the ids of the shorter one.
        expect(idsOf(history([...ids, 'one more']), rule).calls.slice(0, -1)).toEqual(calls);
        for (const [i, item] of ids.entries()) if (RULE[rule].test(item) && ids.indexOf(item) === i) expect(calls[i]).toBe(item);
      }),
    );
  });

  it('go out the same in the call and in its result', () => {
    const { body } = build({ messages: history(['functions.x:0', 'abcdefghi']) }, 'mistral');
    const sent = body.messages.map(message => (message.tool_calls as { id: string }[] | undefined)?.[0]?.id ?? message.tool_call_id);
    expect(sent[0]).toBe(sent[1]);
    expect(sent.slice(2)).toEqual(['abcdefghi', 'abcdefghi']);
  });
});

describe('profiles', () => {
  it('have distinct names, hosts and ports', () => {
    const names = PROFILES.map(profile => profile.name);
    const hosts = PROFILES.flatMap(profile => profile.hosts);
    const ports = PROFILES.flatMap(profile => profile.port ?? []);
    for (const list of [names, hosts, ports]) expect(new Set<unknown>(list).size).toBe(list.length);
  });

  it('of hosted servers name the variable of the key', () => {
    for (const profile of PROFILES.filter(({ needsKey }) => needsKey)) expect(profile.keyName).toMatch(/^[A-Z0-9_]+$/);
  });
});
