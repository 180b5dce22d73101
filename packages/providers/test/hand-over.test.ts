import { assistant, type ChatAdapter, createEngine, imagePart, type Message, system, textPart, toolResult, user } from '@antiphon/engine';
import { anthropic, gemini, openaiChat, openaiResponses } from '@antiphon/providers';
import { describe, expect, test } from 'vitest';

// One conversation, carried on by another vendor: what is valid there goes along, what is not stays out, and every call finds its result.

const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
const PNG_BASE64 = 'iVBORw0KGgo=';
const ODD_IDS = ['functions.look:0', 'call_a|fc_b', 'x'.repeat(450), 'toolu_01ABC', ''.padEnd(9, 'a1')];

/** What each vendor leaves on its own messages, as its adapter keeps it. */
const OWN_STATE: { readonly [vendor: string]: { readonly provider: string; readonly state: object; readonly mark: string } } = {
  anthropic: { provider: 'anthropic', state: { signature: 'SIG-ANTHROPIC' }, mark: 'SIG-ANTHROPIC' },
  gemini: { provider: 'gemini', state: { thoughtSignature: 'SIG-GEMINI' }, mark: 'SIG-GEMINI' },
};

function threadFrom(vendor: string): Message[] {
  const own = OWN_STATE[vendor];
  const providerState = own ? { [own.provider]: own.state } : { openai: { encrypted_content: 'SIG-OPENAI', id: 'rs_1' } };
  return [
    system('Be brief.'),
    user([textPart('What is on this?'), imagePart(PNG, 'image/png')]),
    assistant([
      { type: 'reasoning', text: 'I should look.', providerState: providerState as never },
      { type: 'text', text: 'Let me look.' },
      ...ODD_IDS.map((id, i) => ({ type: 'tool_call' as const, id, name: 'look', arguments: { n: i }, rawArguments: `{"n":${i}}` })),
    ]),
    ...ODD_IDS.map((id, i) =>
      i === 0
        ? toolResult(id, [textPart('seen 0'), imagePart(PNG, 'image/png')], { name: 'look' })
        : toolResult(id, `seen ${i}`, { name: 'look', ...(i === 1 ? { isError: true } : {}) }),
    ),
    assistant('A mountain.'),
    user('Thanks. And now?'),
  ];
}

type Make = (fetch: typeof globalThis.fetch) => ChatAdapter;
const TARGETS: { readonly [name: string]: Make } = {
  'openai chat': fetch => openaiChat({ model: 'm', baseURL: 'https://api.openai.com/v1', apiKey: 'k', fetch }),
  'mistral chat': fetch => openaiChat({ model: 'm', baseURL: 'https://api.mistral.ai/v1', apiKey: 'k', fetch }),
  'openai responses': fetch => openaiResponses({ model: 'm', apiKey: 'k', fetch }),
  anthropic: fetch => anthropic({ model: 'm', apiKey: 'k', fetch }),
  gemini: fetch => gemini({ model: 'm', apiKey: 'k', fetch }),
};
const SOURCES = ['openai', 'anthropic', 'gemini'];

/** Ids that this vendor takes. */
const ID_RULES: { readonly [name: string]: RegExp } = {
  'openai chat': /^.{1,40}$/,
  'mistral chat': /^[A-Za-z0-9]{9}$/,
  'openai responses': /^.{1,64}$/,
  anthropic: /^[A-Za-z0-9_-]+$/,
};

async function sent(target: string, thread: readonly Message[]) {
  let body = '';
  const fetch = (async (_: unknown, init: RequestInit) => {
    body = String(init.body);
    return new Response('{"error":{"message":"enough"}}', { status: 400, headers: { 'content-type': 'application/json' } });
  }) as typeof globalThis.fetch;
  const make = TARGETS[target];
  if (!make) throw new Error(target);
  const outcome = await createEngine({ chat: make(fetch), retry: false }).chat([...thread]);
  return { body, value: JSON.parse(body) as unknown, outcome };
}

/** Every value of these keys, anywhere in a body, in order. */
function valuesOf(value: unknown, keys: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap(item => valuesOf(item, keys));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => (keys.includes(key) && typeof item === 'string' ? [item] : valuesOf(item, keys)));
}

const pairs = SOURCES.flatMap(source => Object.keys(TARGETS).map(target => [source, target] as const));

describe.each(pairs)('a thread of %s goes on with %s', (source, target) => {
  test('with all that was said, shown and found', async () => {
    const { body } = await sent(target, threadFrom(source));
    for (const said of ['Be brief.', 'What is on this?', 'Let me look.', 'seen 0', 'seen 4', 'A mountain.', 'Thanks. And now?'])
      expect(body).toContain(said);
    expect(body).toContain(PNG_BASE64);
  });

  test('and state goes only to the vendor it is from', async () => {
    const { body } = await sent(target, threadFrom(source));
    const marks = ['SIG-ANTHROPIC', 'SIG-GEMINI', 'SIG-OPENAI'].filter(mark => body.includes(mark));
    const home = { anthropic: ['anthropic'], gemini: ['gemini'], openai: ['openai responses', 'openai chat'] }[source] ?? [];
    if (!home.includes(target)) expect(marks).toEqual([]);
    if (OWN_STATE[source] && home.includes(target)) expect(marks).toEqual([OWN_STATE[source]?.mark]);
  });

  test('and each result finds its call, under ids that are allowed there', async () => {
    const { value } = await sent(target, threadFrom(source));
    const rule = ID_RULES[target];
    if (!rule) return;
    const results = valuesOf(value, ['tool_call_id', 'tool_use_id']);
    const calls = target === 'openai responses' ? valuesOf(value, ['call_id']) : valuesOf(value, ['id']).filter(id => results.includes(id));
    if (target === 'openai responses') {
      expect(new Set(calls).size).toBe(ODD_IDS.length);
      expect(calls.length).toBe(2 * ODD_IDS.length);
    } else {
      expect(new Set(results).size).toBe(ODD_IDS.length);
      expect(calls).toEqual(results);
    }
    for (const id of calls) expect(id).toMatch(rule);
  });
});
