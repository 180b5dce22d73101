// Good traces, each damaged in one place: the law that is broken is named, and no other.
import { checkTrace, runScenario, type Scenario, type Trace, type TraceLine, virtualClock } from '@antiphon/voice/testing';
import { beforeAll, describe, expect, test } from 'vitest';

const COMMON: Scenario = {
  policy: {
    endpoint: { finishedMs: 500, unfinishedMs: 500 },
    interrupt: { pauseMs: 500, words: 2, duckMs: 120, resumeMs: 2000 },
    preemptive: 'off',
    holdMs: 700,
    awayMs: 3000,
  },
  vad: { onsetMs: 50, silenceMs: 500 },
  tts: { firstByteMs: 200, msPerChar: 50 },
};
const ASK = { speech: [500, 2500], text: 'Tell me a story.' } as const;
const STORY = { when: 'Tell me a story.', firstTokenMs: 100, durationMs: 300, text: 'Once upon a time there was a fox who said nothing.' };

const SCENARIOS = {
  told: { user: [ASK], llm: [{ ...STORY, text: 'There was a fox who said nothing. The end.' }], end: 12_000 },
  stopped: {
    user: [ASK, { speech: [5000, 6000], text: 'Stop it!' }],
    llm: [STORY, { when: '*', text: 'Okay.', firstTokenMs: 100 }],
    end: 12_000,
  },
  looked: {
    user: [ASK],
    llm: [{ when: '*', text: 'Let me look.', tools: [{ name: 'look', ms: 3000 }], then: 'It is noon.', firstTokenMs: 100 }],
    end: 12_000,
  },
  merged: {
    user: [ASK, { speech: [2900, 4000], text: 'About a fox.' }],
    llm: [{ ...STORY, when: '*', durationMs: 3000 }],
    policy: { ...COMMON.policy, endpoint: { finishedMs: 250, unfinishedMs: 500 } },
    vad: { onsetMs: 50, silenceMs: 200 },
    end: 12_000,
  },
  paused: { user: [ASK, { noise: [4000, 4800] }], llm: [STORY], end: 12_000 },
  retyped: { user: [ASK, { typed: 'No, stop.', at: 3050 }], llm: [STORY, { when: '*', text: 'Okay.', firstTokenMs: 100 }], end: 12_000 },
  failed: { user: [ASK], llm: [{ when: '*', error: 'rate_limited', firstTokenMs: 100 }], end: 12_000 },
  wordless: { user: [ASK], llm: [{ when: '*', text: '🎉', firstTokenMs: 100 }], end: 12_000 },
} satisfies Record<string, Scenario>;
type Name = keyof typeof SCENARIOS;

/** Which lines: by their type, and some of their values. */
type Which = { readonly type: TraceLine['type'] } & Record<string, unknown>;
type Damage = (trace: Trace) => Trace;

const is = (line: TraceLine, which: Which) =>
  Object.entries(which).every(([key, value]) => (line as Record<string, unknown>)[key] === value);
/** The first such line; throws where there is none, so that a damage cannot miss. */
function place(trace: Trace, which: Which): number {
  const at = trace.findIndex(line => is(line, which));
  if (at === -1) throw new Error(`no ${JSON.stringify(which)}`);
  return at;
}
const without =
  (which: Which): Damage =>
  trace =>
    trace.toSpliced(place(trace, which), 1);
const twice =
  (which: Which): Damage =>
  trace =>
    trace.toSpliced(place(trace, which), 0, trace[place(trace, which)] as TraceLine);
const changed =
  (which: Which, change: (line: never) => object): Damage =>
  trace =>
    trace.with(place(trace, which), { ...trace[place(trace, which)], ...change(trace[place(trace, which)] as never) } as TraceLine);
/** A line put before or behind another; without values of its own it is made of that one. */
const added =
  (where: 'before' | 'behind', which: Which, line: object): Damage =>
  trace => {
    const at = place(trace, which);
    return trace.toSpliced(at + (where === 'behind' ? 1 : 0), 0, { t: trace[at]?.t ?? 0, ...line } as TraceLine);
  };
const moved =
  (which: Which, behind: Which): Damage =>
  trace => {
    const line = trace[place(trace, which)] as TraceLine;
    const rest = without(which)(trace);
    return rest.toSpliced(place(rest, behind) + 1, 0, line);
  };
const both =
  (...damages: readonly Damage[]): Damage =>
  trace =>
    damages.reduce((damaged, damage) => damage(damaged), trace);

const reply = { type: 'message', role: 'assistant' } as const;
const question = { type: 'message', role: 'user' } as const;
const old = { turn: 1, generation: 1 };

const traces = new Map<Name, Trace>();
beforeAll(async () => {
  for (const [name, scenario] of Object.entries(SCENARIOS)) traces.set(name as Name, await runScenario({ ...COMMON, ...scenario }));
});
const traceOf = (name: Name) => traces.get(name) as Trace;

describe('good traces', () => {
  test.each(Object.keys(SCENARIOS) as Name[])('%s', name => {
    expect(checkTrace(traceOf(name))).toEqual([]);
  });

  test('hold what they are to show', () => {
    const types = (name: Name) => traceOf(name).map(({ type }) => type);
    expect(types('told')).toContain('away');
    expect(types('stopped')).toEqual(expect.arrayContaining(['duck', 'pause', 'flush', 'overlap']));
    expect(types('looked')).toEqual(expect.arrayContaining(['tool_start', 'tool_end', 'hold_start', 'hold_stop']));
    expect(traceOf('merged')).toContainEqual(expect.objectContaining({ type: 'turn_end', supersedes: 1 }));
    expect(types('paused')).toEqual(expect.arrayContaining(['duck', 'pause', 'resume', 'unduck']));
    expect(types('retyped')).toContain('llm_cancelled');
    expect(types('failed')).toContain('apology');
  });
});

const DAMAGES: Record<number, readonly (readonly [string, Name, Damage])[]> = {
  1: [
    [
      'a clause of a reply that was cut is synthesized',
      'stopped',
      added('behind', { type: 'flush' }, { type: 'tts_request', ...old, clause: 7, text: 'More.' }),
    ],
    ['… gives sound', 'stopped', added('behind', { type: 'flush' }, { type: 'tts_first_byte', ...old, clause: 7 })],
    ['a reply that was heard writes on', 'told', added('behind', reply, { type: 'tool_start', ...old, callId: 'c', name: 'n' })],
    ['a cancelled model writes on', 'merged', added('behind', { type: 'llm_cancelled' }, { type: 'llm_done', ...old, text: 'Once' })],
    ['an old reply is paused', 'stopped', moved({ type: 'pause' }, { type: 'audio_stop' })],
    [
      'an older reply speaks while a newer one lives',
      'merged',
      both(
        without({ type: 'llm_cancelled' }),
        added('behind', { type: 'llm_first_token', generation: 2 }, { type: 'tts_request', ...old, clause: 0, text: 'Hi.' }),
      ),
    ],
  ],
  2: [
    ['an interruption stops the sound too late', 'stopped', changed({ type: 'audio_stop' }, ({ t }: { t: number }) => ({ t: t + 71 }))],
    ['… not before the reply is over', 'stopped', changed({ type: 'overlap' }, ({ t }: { t: number }) => ({ t: t - 71 }))],
  ],
  3: [
    ['a reply is not committed', 'told', without(reply)],
    ['a turn is never sent', 'told', without({ type: 'llm_request' })],
    [
      'a turn is answered and superseded',
      'merged',
      added('behind', { type: 'llm_cancelled' }, { type: 'message', role: 'assistant', ...old, text: '🎉', playedMs: 0 }),
    ],
    ['a reply vanishes when the next turn ends', 'retyped', without({ type: 'llm_cancelled' })],
    [
      'two turns take the same one along',
      'merged',
      added('before', { type: 'closed' }, { type: 'turn_end', turn: 3, text: 'So.', supersedes: 1 }),
    ],
    ['a failure is kept secret', 'failed', trace => trace.filter(({ type }) => !['error', 'llm_cancelled', 'apology'].includes(type))],
  ],
  4: [
    ...(
      [
        'llm_request',
        'llm_first_token',
        'llm_done',
        'audio_first',
        'audio_stop',
        'flush',
        'tts_request',
        'tts_first_byte',
        'tts_done',
      ] as const
    ).map(type => [`${type} comes twice`, 'stopped', twice({ type })] as const),
    ['llm_cancelled comes twice', 'merged', twice({ type: 'llm_cancelled' })],
    ['a reply is committed twice', 'told', twice(reply)],
    ['a question is committed twice', 'told', twice(question)],
    ['an apology comes twice', 'failed', twice({ type: 'apology' })],
  ],
  5: [
    ['a call has no result', 'looked', without({ type: 'tool_end' })],
    ['a call has two', 'looked', twice({ type: 'tool_end' })],
    ['a call begins twice', 'looked', twice({ type: 'tool_start' })],
    ['a result has no call', 'looked', without({ type: 'tool_start' })],
    ['a result comes when the model is done', 'looked', moved({ type: 'tool_end' }, { type: 'llm_done' })],
    [
      'a call of a turn before is open',
      'stopped',
      added('behind', { type: 'llm_done' }, { type: 'tool_start', ...old, callId: 'c', name: 'n' }),
    ],
  ],
  6: [
    ['a cut reply ends inside a word', 'stopped', changed(reply, ({ text }: { text: string }) => ({ text: text.slice(0, -1) }))],
    ['… is whole, though it was cut', 'stopped', changed(reply, () => ({ text: STORY.text }))],
    ['… ends in white space', 'stopped', changed(reply, ({ text }: { text: string }) => ({ text: `${text} ` }))],
    ['the history holds other words', 'told', changed(reply, () => ({ text: 'There was a dog.' }))],
    ['… other signs than were written', 'told', changed(reply, ({ text }: { text: string }) => ({ text: text.replace('.', '!') }))],
    ['… figures that were not written', 'wordless', changed(reply, () => ({ text: '42' }))],
    ['a whole reply lacks its end', 'told', changed(reply, () => ({ text: 'There was a fox who said nothing.' }))],
    [
      'a reply of which nothing was heard is in the history',
      'merged',
      trace =>
        both(
          added(
            'behind',
            { type: 'llm_cancelled' },
            { type: 'message', role: 'assistant', ...old, text: '…', interrupted: true, playedMs: 0 },
          ),
          changed({ type: 'turn_end', turn: 2 }, () => ({ supersedes: undefined })),
        )(trace),
    ],
  ],
  7: [
    ['the agent thinks twice', 'told', twice({ type: 'agent_state', state: 'thinking' })],
    ['the agent speaks before its sound', 'told', moved({ type: 'audio_first' }, { type: 'agent_state', state: 'speaking' })],
    [
      '… in its second reply',
      'stopped',
      trace => {
        const at = trace.findLastIndex(({ type }) => type === 'audio_first');
        return trace.with(at, trace[at + 1] as TraceLine).with(at + 1, trace[at] as TraceLine);
      },
    ],
    ['the user speaks unheard', 'told', moved({ type: 'vad_start' }, { type: 'user_state', state: 'speaking' })],
    ['the user is quiet twice', 'told', twice({ type: 'user_state', state: 'quiet' })],
    ['the user goes away while speaking', 'told', added('behind', { type: 'user_state', state: 'speaking' }, { type: 'away' })],
    ['the user is away while a tool runs', 'looked', both(added('behind', { type: 'tool_start' }, { type: 'user_state', state: 'away' }))],
    ['a sound begins twice', 'told', twice({ type: 'vad_start' })],
    ['a sound ends twice', 'told', twice({ type: 'vad_end' })],
    ['a reply goes on that was not paused', 'paused', without({ type: 'pause' })],
    ['a reply gets louder that is paused', 'paused', without({ type: 'resume' })],
    ['a reply is paused twice', 'paused', twice({ type: 'pause' })],
    ['a reply is ducked twice', 'paused', twice({ type: 'duck' })],
    ['a reply gets louder twice', 'paused', twice({ type: 'unduck' })],
    ['the hold sound begins twice', 'looked', twice({ type: 'hold_start' })],
    ['the hold sound ends unbegun', 'looked', without({ type: 'hold_start' })],
    ['silence is ducked', 'told', added('before', { type: 'llm_request' }, { type: 'duck', turn: 1, generation: 1 })],
  ],
  8: [
    ['the session is never closed', 'told', without({ type: 'closed' })],
    ['something comes after its end', 'told', added('behind', { type: 'closed' }, { type: 'error', stage: 'stt', message: 'late' })],
    ['it is closed twice', 'told', twice({ type: 'closed' })],
    ['a timer is left', 'told', changed({ type: 'closed' }, () => ({ timers: 1 }))],
  ],
  9: [
    ['sound is lost', 'told', both(changed({ type: 'audio_stop' }, ({ playedMs }: { playedMs: number }) => ({ queuedMs: playedMs + 1 })))],
    [
      'more was played than was there',
      'stopped',
      changed({ type: 'audio_stop' }, ({ playedMs }: { playedMs: number }) => ({ queuedMs: playedMs - 1 })),
    ],
    ['more was played than there was time', 'told', changed({ type: 'audio_first' }, ({ t }: { t: number }) => ({ t: t + 50 }))],
    ['a sound has no end', 'told', without({ type: 'audio_stop' })],
    [
      'the history tells of more than was played',
      'told',
      changed(reply, ({ playedMs }: { playedMs: number }) => ({ playedMs: playedMs + 1 })),
    ],
  ],
  10: [
    ['a question stands behind its answer', 'told', moved(question, reply)],
    ['an answer of turn 1 stands behind turn 2', 'stopped', moved(reply, { ...question, turn: 2 })],
    ['an answer is told before its sound has ended', 'told', moved({ type: 'audio_stop' }, reply)],
    ['an answer has no question', 'told', without(question)],
    ['a message is older than the one before', 'stopped', changed({ ...question, turn: 2 }, () => ({ t: 3000 }))],
  ],
};

describe.each(Object.entries(DAMAGES))('law %s', (law, damages) => {
  test.each(damages)('%s', (_, name, damage) => {
    const damaged = damage(traceOf(name));
    const violations = checkTrace(damaged);
    expect(violations.map(violation => `${violation.law} ${violation.message}`)).toEqual(
      violations.length === 0 ? ['a violation'] : expect.arrayContaining([expect.stringMatching(new RegExp(`^${law} `))]),
    );
    expect(violations.filter(violation => violation.law !== Number(law))).toEqual([]);
    for (const { t, message } of violations) {
      expect(Number.isFinite(t)).toBe(true);
      expect(message).not.toMatch(/undefined|NaN|\[object/);
    }
  });
});

test('an empty trace was never closed', () => {
  expect(checkTrace([])).toEqual([{ law: 8, t: 0, message: expect.any(String) }]);
  expect(virtualClock().pending).toBe(0);
});
