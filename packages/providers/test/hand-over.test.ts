import {
  type AssistantPart,
  assistant,
  type Message,
  reasoningPart,
  type SourcePart,
  system,
  type ToolCallPart,
  textPart,
  toolResult,
  user,
  type Warning,
} from '@antiphon/engine';
import { describe, expect, test } from 'vitest';
import { call, NAMES, TARGETS, type TargetName } from './support/hand-over.js';

// One conversation, carried on by another vendor: what is valid there goes along as it was, what is not stays out and is told once for each
// kind, and every call finds its result.

const source: SourcePart = { type: 'source', url: 'https://a.test' };

const WIRE = {
  reasoning: { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'I should look.' }], encrypted_content: 'SEAL-O/+=' },
  search: { id: 'ws_1', type: 'web_search_call', status: 'completed' },
  redacted: { type: 'redacted_thinking', data: 'SEAL-R/+=' },
  serverTool: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
  serverResult: { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
  citations: [{ type: 'web_search_result_location', url: 'https://a.test', encrypted_index: 'SEAL-C/+=' }],
  code: { executableCode: { language: 'PYTHON', code: 'print(1)' }, thoughtSignature: 'SEAL-G1' },
  bare: { text: '', thoughtSignature: 'SEAL-G2' },
  step: { type: 'google_search_call', id: 'gs_1', arguments: { queries: ['x'] } },
};

/** What an answer of each vendor's holds, as its adapter leaves it; the call comes last. */
const ANSWERS: { readonly [vendor: string]: readonly AssistantPart[] } = {
  deepseek: [reasoningPart('I should look.'), textPart('Let me look.'), call('call_1')],
  llamaCpp: [reasoningPart('I should look.'), textPart('Let me look.'), call('call_1')],
  responses: [
    reasoningPart('I should look.', { openai: { item: WIRE.reasoning } }),
    reasoningPart('', { openai: { item: WIRE.search } }),
    {
      ...textPart('Let me look.'),
      providerState: {
        openai: {
          item: { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '', annotations: [] }] },
          chars: [12],
          after: 'rs_1',
        },
      },
    },
    source,
    call('call_1', {
      openai: { item: { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '' }, after: 'rs_1' },
    }),
  ],
  anthropic: [
    reasoningPart('I should look.', { anthropic: { signature: 'SEAL-A/+=' } }),
    reasoningPart('', { anthropic: { block: WIRE.redacted } }),
    reasoningPart('', { anthropic: { block: WIRE.serverTool } }),
    reasoningPart('', { anthropic: { block: WIRE.serverResult } }),
    { ...textPart('Let me look.'), providerState: { anthropic: { citations: WIRE.citations } } },
    source,
    call('toolu_01ABC'),
  ],
  gemini: [
    reasoningPart('I should look.', { gemini: { thought: true } }),
    reasoningPart('print(1)', { gemini: { part: WIRE.code } }),
    textPart('Let me look.'),
    reasoningPart('', { gemini: { part: WIRE.bare } }),
    source,
    call('gem_1', { gemini: { id: 'gem_1', thoughtSignature: 'SEAL-G3' } }),
  ],
  interactions: [
    reasoningPart('I should look.', { gemini: { thoughtSignature: 'SEAL-I1' } }),
    reasoningPart('', { gemini: { step: WIRE.step } }),
    textPart('Let me look.'),
    source,
    call('int_1', { gemini: { thoughtSignature: 'SEAL-I2' } }),
  ],
};
const SEALS = ['SEAL-O/+=', 'SEAL-A/+=', 'SEAL-R/+=', 'SEAL-C/+=', 'SEAL-G1', 'SEAL-G2', 'SEAL-G3', 'SEAL-I1', 'SEAL-I2'];

/** Twice the same, so that a warning for each message would be seen. */
function threadOf(vendor: string): Message[] {
  const answer = ANSWERS[vendor]!;
  const { id } = answer.at(-1) as ToolCallPart;
  const again = [...answer.slice(0, -1), { ...(answer.at(-1) as ToolCallPart), id: `${id}b` }];
  return [
    system('Be brief.'),
    user('What is on this?'),
    assistant(answer),
    toolResult(id, 'seen 1', { name: 'look' }),
    assistant(again),
    toolResult(`${id}b`, 'seen 2', { name: 'look', isError: true }),
    assistant('A mountain.'),
    user('Thanks. And now?'),
  ];
}

const KINDS: readonly (readonly [string, RegExp])[] = [
  ['reasoning', /^Reasoning in an earlier answer cannot be sent to/],
  ['step', /^A step of a server's own tools in an earlier answer cannot be sent to/],
  ['citations', /^Citations in an earlier answer cannot be sent to/],
];
const kindOf = ({ code, message }: Warning) => (code === 'other' && KINDS.find(([, words]) => words.test(message))?.[0]) || message;

/** What is lost on the way. Where words of reasoning go along, only what has no words is. */
const LOST: { readonly [vendor: string]: Partial<Record<TargetName, string>> & { readonly elsewhere: string } } = {
  // A plain server's reasoning bears no mark: another plain one takes it, or does not as it takes none of its own.
  deepseek: { deepseek: '', 'openai chat': '', mistral: '', llamaCpp: '', elsewhere: 'reasoning' },
  llamaCpp: { deepseek: '', 'openai chat': '', mistral: '', llamaCpp: '', elsewhere: 'reasoning' },
  responses: { responses: '', deepseek: 'step citations', llamaCpp: 'step citations', elsewhere: 'reasoning step citations' },
  anthropic: { anthropic: '', elsewhere: 'reasoning step citations' },
  gemini: {
    gemini: '',
    'gemini 3': '',
    interactions: 'reasoning step',
    'interactions 3': 'reasoning step',
    deepseek: 'reasoning citations',
    llamaCpp: 'reasoning citations',
    elsewhere: 'reasoning step citations',
  },
  interactions: {
    interactions: '',
    'interactions 3': '',
    gemini: 'step',
    'gemini 3': 'step',
    deepseek: 'step citations',
    llamaCpp: 'step citations',
    elsewhere: 'reasoning step citations',
  },
};

/** What must stand in the body of a request to the vendor itself, byte for byte. */
const KEPT: { readonly [vendor: string]: readonly unknown[] } = {
  deepseek: [{ reasoning_content: 'I should look.' }],
  llamaCpp: [{ type: 'segment', segmentType: 'thought', text: 'I should look.', ended: true }],
  responses: [WIRE.reasoning, WIRE.search, { id: 'fc_1' }, { arguments: '{"n": 1}' }],
  anthropic: [
    { type: 'thinking', thinking: 'I should look.', signature: 'SEAL-A/+=' },
    WIRE.redacted,
    WIRE.serverTool,
    WIRE.serverResult,
    { text: 'Let me look.', citations: WIRE.citations },
    { id: 'toolu_01ABC', name: 'look', input: { n: 1 } },
  ],
  gemini: [WIRE.code, WIRE.bare, { functionCall: { id: 'gem_1', name: 'look', args: { n: 1 } }, thoughtSignature: 'SEAL-G3' }],
  interactions: [
    { type: 'thought', signature: 'SEAL-I1', summary: [{ type: 'text', text: 'I should look.' }] },
    WIRE.step,
    { type: 'function_call', id: 'int_1', name: 'look', arguments: { n: 1 }, signature: 'SEAL-I2' },
  ],
};
const inside = (value: unknown) => JSON.stringify(value).slice(1, -1);

const pairs = Object.keys(ANSWERS).flatMap(vendor => NAMES.map(target => [vendor, target] as const));

describe.each(pairs)('a thread of %s goes on with %s', (vendor, target) => {
  test('with all that was said and found, and each kind of loss told once', async () => {
    const { body, warnings } = await TARGETS[target](threadOf(vendor));
    for (const said of ['Be brief.', 'What is on this?', 'Let me look.', 'seen 1', 'seen 2', 'A mountain.', 'Thanks. And now?'])
      expect(body).toContain(said);
    const { elsewhere, ...known } = LOST[vendor]!;
    const expected = (known[target] ?? elsewhere).split(' ').filter(kind => kind !== '');
    expect(warnings.map(kindOf).sort()).toEqual(expected.sort());
  });

  test('and what only its vendor can read goes nowhere else', async () => {
    const { body } = await TARGETS[target](threadOf(vendor));
    const isGoogle = (name: string) => name.startsWith('gemini') || name.startsWith('interactions');
    if (vendor === target) for (const part of KEPT[vendor] ?? []) expect(body).toContain(inside(part));
    else if (!(isGoogle(vendor) && isGoogle(target))) expect(SEALS.filter(seal => body.includes(seal))).toEqual([]);
  });
});
