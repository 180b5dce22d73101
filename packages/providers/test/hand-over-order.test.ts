import {
  type AssistantPart,
  assistant,
  imagePart,
  type Message,
  reasoningPart,
  repairMessages,
  system,
  textPart,
  toolResult,
  user,
} from '@antiphon/engine';
import { openaiChat } from '@antiphon/providers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { call, TARGETS, through } from './support/hand-over.js';

// Who may speak after whom: whatever the order of a thread, its request has the one that the vendor takes, and all that was said.

const ALL = { ...TARGETS, perplexity: through(openaiChat({ model: 'm', baseURL: 'https://api.perplexity.ai', apiKey: 'k' })) };
type TargetName = keyof typeof ALL;
const NAMES = Object.keys(ALL) as TargetName[];

type Wire = Record<string, unknown>;
const list = (value: unknown) => (Array.isArray(value) ? (value as Wire[]) : []);

/** What a vendor would say against the order of a request. */
type Law = (body: Wire) => string[];

/** Every call of a chat message is answered right behind it. */
const answered: Law = ({ messages }) => {
  let open: unknown[] = [];
  const faults: string[] = [];
  for (const message of [...list(messages), { role: 'end' }] as Wire[]) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) faults.push('an answer to no call');
      open = open.filter(id => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) faults.push('a call without an answer');
    open = list(message.tool_calls).map(({ id }) => id);
  }
  return faults;
};

/** The order in which Mistral's own validator takes roles. */
const AFTER: { readonly [role: string]: readonly string[] } = {
  system: ['user', 'assistant', 'system'],
  user: ['assistant', 'system', 'user'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool'],
};
const strict: Law = ({ messages }) => {
  const roles = list(messages).map(({ role }) => String(role));
  const last = list(messages).at(-1);
  const isRefused = last?.role === 'assistant' && last.prefix !== true;
  return [
    ...roles
      .slice(1)
      .flatMap((role, i) => (AFTER[roles[i]!]!.includes(role) ? [] : [`Unexpected role '${role}' after role '${roles[i]}'`])),
    ...(isRefused ? ['Expected last role User or Tool (or Assistant with prefix True)'] : []),
  ];
};

/** Instructions first; then the user, or tools, in turns with the model. */
const takesTurns: Law = ({ messages }) => {
  const roles = list(messages).map(({ role }) => String(role));
  const first = roles.findIndex(role => role !== 'system');
  const turns = roles.slice(first).map(role => (role === 'tool' ? 'user' : role));
  const sides = turns.filter((side, i) => !(roles[first + i] === 'tool' && roles[first + i - 1] === 'tool' && side === turns[i - 1]));
  return sides.flatMap((side, i) => (side === (i % 2 === 0 ? 'user' : 'assistant') ? [] : [`${side} at ${i}`]));
};

const alternating: Law = ({ messages }) => {
  const turns = list(messages);
  const faults = turns.flatMap(({ role }, i) => (role === (i % 2 === 0 ? 'user' : 'assistant') ? [] : [`${role} at ${i}`]));
  for (const [i, { content }] of turns.entries()) {
    const uses = list(content).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
    const behind = list(turns[i + 1]?.content).slice(0, uses.length);
    if (behind.some(({ type }) => type !== 'tool_result') || behind.length < uses.length) faults.push('a use without its result');
  }
  return faults;
};

const between: Law = ({ contents }) => {
  const turns = list(contents);
  return turns.flatMap(({ parts }, i) => {
    const calls = list(parts).filter(({ functionCall }) => functionCall).length;
    if (calls === 0) return [];
    const answers = list(turns[i + 1]?.parts).filter(({ functionResponse }) => functionResponse).length;
    const isPlaced = turns[i - 1]?.role === 'user';
    return [...(isPlaced ? [] : ['a call behind nothing']), ...(answers === calls ? [] : ['calls and answers do not match'])];
  });
};

const LAWS: Partial<Record<TargetName, readonly Law[]>> = {
  'openai chat': [answered],
  mistral: [answered, strict],
  perplexity: [answered, takesTurns],
  deepseek: [answered],
  anthropic: [alternating],
  gemini: [between],
  'gemini 3': [between],
};

/** Turns in any order; what is said is numbered when the thread is put together. */
const step = fc.oneof(
  fc.constantFrom('user', 'system', 'assistant', 'picture'),
  fc.record({ calls: fc.integer({ min: 1, max: 3 }), answered: fc.integer({ min: 0, max: 3 }), shows: fc.boolean() }),
);
const threads = fc.array(step, { minLength: 1, maxLength: 8 }).map(steps => {
  const said: string[] = [];
  const say = () => `<${said.push(`<${said.length}>`) - 1}>`;
  const messages = steps.flatMap((each, n): Message[] => {
    if (each === 'user') return [user(say())];
    if (each === 'system') return [system(say())];
    if (each === 'assistant') return [assistant(say())];
    if (each === 'picture') return [user([textPart(say()), imagePart(new Uint8Array([n]))])];
    if (typeof each === 'string') return [];
    const ids = Array.from({ length: each.calls }, (_, i) => `call_${n}_${i}`);
    const parts: AssistantPart[] = [textPart(say()), ...ids.map(id => call(id))];
    const content = () => (each.shows ? [textPart(say()), imagePart(new Uint8Array([n]))] : say());
    return [assistant(parts), ...ids.slice(0, each.answered).map(id => toolResult(id, content()))];
  });
  // The user has spoken somewhere, and mostly last.
  const whole = steps.length % 3 === 0 ? [user(say()), ...messages] : [...messages, user(say())];
  return { messages: [...repairMessages(whole).messages], said };
});

describe.each(NAMES)('a thread in any order, at %s', target => {
  test('keeps what was said, in an order that the vendor takes', async () => {
    const law = fc.asyncProperty(threads, async ({ messages, said }) => {
      const { body } = await ALL[target](messages);
      expect((LAWS[target] ?? []).flatMap(each => each(JSON.parse(body) as Wire))).toEqual([]);
      for (const words of said) expect(body).toContain(words);
    });
    await fc.assert(law, { numRuns: 60 });
  });
});

describe('a call that nobody thought about', () => {
  const chat = (baseURL: string) => through(openaiChat({ model: 'm', baseURL, apiKey: 'k' }));
  const thread = [
    user('Look.'),
    assistant([call('call_1')]),
    toolResult('call_1', 'a mountain'),
    assistant([reasoningPart('Once more.'), call('call_2')]),
    toolResult('call_2', 'a lake'),
    assistant('Both.'),
    user('Thanks.'),
  ];
  test.each([
    ['https://api.deepseek.com', ['…', 'Once more.', undefined]],
    ['https://api.moonshot.ai/v1', ['…', 'Once more.', undefined]],
    ['https://api.z.ai/api/paas/v4', [undefined, 'Once more.', undefined]],
    ['https://api.openai.com/v1', [undefined, undefined, undefined]],
  ])('has a word of reasoning where the server asks for one: %s', async (baseURL, thoughts) => {
    const { body, warnings } = await chat(baseURL)(thread);
    const answers = list((JSON.parse(body) as Wire).messages).filter(({ role }) => role === 'assistant');
    expect([answers.map(({ reasoning_content }) => reasoning_content), warnings]).toEqual([thoughts, []]);
  });
});

describe('what stands elsewhere in another role is told', () => {
  const interrupted = [user('Look.'), assistant([call('call_1')]), toolResult('call_1', 'a mountain'), user('Never mind.')];
  const late = [user('Hi'), assistant('Hello.'), system('Be brief.'), user('And?')];
  const cut = [assistant([call('call_1')]), toolResult('call_1', 'a mountain')];
  test.each<[string, TargetName, readonly Message[], string]>([
    ['instructions in the middle', 'mistral', late, 'mistral takes no instructions here'],
    ['a word of the user at the beginning', 'gemini', cut, 'gemini wants the user to begin'],
    ['a word of the user at the beginning', 'anthropic', cut, 'anthropic wants the user to begin'],
  ])('%s, at %s', async (_, target, messages, words) => {
    const { warnings } = await ALL[target](messages);
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
  });

  test.each<[string, readonly Message[]]>([
    ['a silence of the model', interrupted],
    ['its answer', [...interrupted.slice(0, 3), assistant('A mountain.'), user('Thanks.')]],
  ])('but not %s between tool and user at mistral', async (_, messages) => {
    const { body, warnings } = await ALL.mistral(messages);
    const roles = list((JSON.parse(body) as Wire).messages).map(({ role }) => role);
    expect([roles, warnings]).toEqual([['user', 'assistant', 'tool', 'assistant', 'user'], []]);
  });
});
