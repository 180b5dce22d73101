// Conversations on a virtual clock, exact to the millisecond; edges of sound to one frame of 20 ms.
import type { VoiceEvent } from '@antiphon/voice';
import { checkTrace, runScenario, type Scenario, type Trace, type UserAction } from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';

const COMMON = {
  policy: {
    endpoint: { finishedMs: 500, unfinishedMs: 500 },
    interrupt: { pauseMs: 500, words: 2, duckMs: 120, resumeMs: 2000 },
    preemptive: 'off',
    holdMs: 700,
    awayMs: 15_000,
  },
  vad: { onsetMs: 50, silenceMs: 500 },
  stt: { finalMs: 200 },
  tts: { firstByteMs: 200, msPerChar: 50 },
} as const satisfies Scenario;
const ASK: UserAction = { speech: [500, 2500], text: 'Tell me a story.' };
const STORY = { when: 'Tell me a story.', firstTokenMs: 100, durationMs: 300, text: 'Once upon a time there was a fox who said nothing.' };
const OKAY = { when: '*', firstTokenMs: 100, durationMs: 100, text: 'Okay.' };

async function play(scenario: Scenario): Promise<Trace> {
  const trace = await runScenario({ ...COMMON, ...scenario });
  expect(checkTrace(trace)).toEqual([]);
  return trace;
}

type Type = Trace[number]['type'];
const all = (trace: Trace, type: Type) => trace.filter(line => line.type === type) as VoiceEvent[];
const times = (trace: Trace, type: Type) => all(trace, type).map(line => line.t);
const states = (trace: Trace, type: 'agent_state' | 'user_state' = 'agent_state') =>
  all(trace, type).map(line => `${line.t} ${(line as { state: string }).state}`);
const verdicts = (trace: Trace) => all(trace, 'overlap').map(line => (line as { verdict: string }).verdict);
const messages = (trace: Trace) =>
  all(trace, 'message').map(line => {
    const { role, text, interrupted } = line as Extract<VoiceEvent, { type: 'message' }>;
    return [role, text, ...(interrupted ? ['interrupted'] : [])];
  });
const played = (trace: Trace) => all(trace, 'audio_stop').map(line => (line as { playedMs: number }).playedMs);
/** To one frame of the loudspeaker. */
const frame = (actual: number | undefined, expected: number) => {
  expect(actual).toBeGreaterThanOrEqual(expected);
  expect(actual).toBeLessThanOrEqual(expected + 20);
};

describe('one turn', () => {
  test('goes through its states in time', async () => {
    const trace = await play({ user: [ASK], llm: [{ ...STORY, audioMs: 2000 }], end: 9000 });
    expect(times(trace, 'turn_end')).toEqual([3000]);
    expect(times(trace, 'llm_request')).toEqual([3000]);
    expect(times(trace, 'llm_first_token')).toEqual([3100]);
    expect(times(trace, 'llm_done')).toEqual([3300]);
    frame(times(trace, 'audio_first')[0], 3500);
    expect(states(trace).map(state => state.split(' ')[1])).toEqual(['thinking', 'speaking', 'listening']);
    expect(played(trace)).toEqual([2000]);
  });

  test('ends once, with the final words, when they come after the silence', async () => {
    const trace = await play({
      policy: { ...COMMON.policy, endpoint: { finishedMs: 250, unfinishedMs: 3000 } },
      vad: { onsetMs: 50, silenceMs: 250 },
      user: [{ speech: [0, 400], text: 'hello', partials: [[200, 'hel']], finalMs: 300 }],
      llm: [OKAY],
      end: 6000,
    });
    expect(times(trace, 'turn_end')).toEqual([700]);
    expect(all(trace, 'llm_request')).toMatchObject([{ text: 'hello' }]);
    expect(times(trace, 'audio_stop')).toHaveLength(1);
  });

  test('waits longer for words that sound unfinished', async () => {
    const trace = await play({
      policy: { ...COMMON.policy, endpoint: { finishedMs: 300, unfinishedMs: 1500 } },
      vad: { silenceMs: 300 },
      user: [{ speech: [500, 1500], text: 'I want to', unfinished: true }],
      llm: [OKAY],
      end: 6000,
    });
    expect(times(trace, 'turn_end')).toEqual([3000]);
  });

  test.each([
    ['two fragments 400 ms apart are one turn', 1500, 1900, ['user', 'Tell me a story. About a fox.']],
    ['also with a silence between them that voice activity sees', 1500, 1930, ['user', 'Tell me a story. About a fox.']],
  ])('%s', async (_, end, start, message) => {
    const trace = await play({
      vad: { onsetMs: 50, silenceMs: 300 },
      user: [
        { speech: [500, end], text: 'Tell me a story.' },
        { speech: [start, start + 1000], text: 'About a fox.' },
      ],
      llm: [OKAY],
      end: 9000,
    });
    expect(messages(trace)).toEqual([message, ['assistant', 'Okay.']]);
  });

  test('a fragment that comes a little too late takes the unanswered one along', async () => {
    const trace = await play({
      policy: { ...COMMON.policy, endpoint: { finishedMs: 300, unfinishedMs: 1500 } },
      vad: { onsetMs: 50, silenceMs: 300 },
      user: [
        { speech: [500, 1500], text: 'My name is John.' },
        { speech: [1900, 2900], text: 'Doe.' },
      ],
      llm: [OKAY],
      end: 9000,
    });
    expect(all(trace, 'llm_request').map(line => (line as { text: string }).text)).toEqual(['My name is John.', 'My name is John. Doe.']);
    expect(all(trace, 'turn_end')[1]).toMatchObject({ turn: 2, supersedes: 1 });
    expect(messages(trace).filter(([role]) => role === 'assistant')).toHaveLength(1);
  });

  test('speech that fails is asked again, and at last said to be lost', async () => {
    const once = await play({ user: [{ ...ASK, error: 'down', times: 1 }], llm: [OKAY], end: 9000 });
    expect(messages(once)[0]).toEqual(['user', 'Tell me a story.']);
    const always = await play({ user: [{ ...ASK, error: 'down' }], llm: [OKAY], end: 9000 });
    expect(all(always, 'error')).toHaveLength(2);
    expect(messages(always).filter(([role]) => role === 'user')).toEqual([]);
  });
});

describe('barge-in', () => {
  test('ducks, pauses and, once there are words, ends the reply', async () => {
    const trace = await play({
      user: [ASK, { speech: [5000, 6000], text: 'Stop!' }],
      llm: [{ ...STORY, audioMs: 10_000 }, OKAY],
      end: 12_000,
    });
    expect(times(trace, 'duck')).toEqual([5120]);
    expect(times(trace, 'pause')).toEqual([5500]);
    expect(verdicts(trace)).toEqual(['interruption']);
    frame(played(trace)[0], 1980);
    expect(times(trace, 'audio_stop')).toHaveLength(2);
    expect(states(trace).filter(state => state.endsWith('thinking'))).toEqual(['3000 thinking', '6500 thinking']);
    const [, cut] = messages(trace);
    expect(cut?.[2]).toBe('interrupted');
    expect(STORY.text.startsWith(cut?.[1] ?? 'x')).toBe(true);
  });

  test('two words end it at once', async () => {
    const trace = await play({
      user: [ASK, { speech: [5000, 6000], text: 'no wait stop', partials: [[5200, 'no wait']] }],
      llm: [{ ...STORY, audioMs: 10_000 }, OKAY],
      end: 12_000,
    });
    expect(times(trace, 'overlap')).toEqual([5200]);
    expect(times(trace, 'flush')).toEqual([5200]);
    frame(played(trace)[0], 1680);
  });

  test('needs as many words as are asked for, over several utterances', async () => {
    const trace = await play({
      policy: { ...COMMON.policy, interrupt: { ...COMMON.policy.interrupt, minWords: 3 } },
      user: [ASK, { speech: [5000, 6000], text: 'Stop!' }, { speech: [6500, 7500], text: 'ok, stop!', finalMs: 0 }],
      llm: [{ ...STORY, audioMs: 5000 }, OKAY],
      end: 15_000,
    });
    expect(times(trace, 'pause')).toEqual([]);
    expect(times(trace, 'flush')).toEqual([7500]);
    frame(played(trace)[0], 3980);
    expect(messages(trace)[2]).toEqual(['user', 'Stop! ok, stop!']);
  });

  test('can be off: everything is heard, and what was said is answered afterwards', async () => {
    const trace = await play({
      policy: { ...COMMON.policy, interrupt: { ...COMMON.policy.interrupt, pauseMs: false } },
      user: [ASK, { speech: [5000, 6000], text: 'Stop!' }],
      llm: [{ ...STORY, audioMs: 5000 }, OKAY],
      end: 15_000,
    });
    expect(played(trace)[0]).toBe(5000);
    expect(messages(trace)).toEqual([
      ['user', 'Tell me a story.'],
      ['assistant', STORY.text],
      ['user', 'Stop!'],
      ['assistant', 'Okay.'],
    ]);
  });

  test('typed text goes from speaking to thinking', async () => {
    const trace = await play({
      user: [ASK, { typed: 'Something else', at: 5000 }],
      llm: [{ ...STORY, audioMs: 15_000 }, OKAY],
      end: 12_000,
    });
    expect(states(trace).map(state => state.split(' ')[1])).toEqual(['thinking', 'speaking', 'thinking', 'speaking', 'listening']);
    expect(messages(trace).map(([role]) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(messages(trace)[1]?.[2]).toBe('interrupted');
  });

  test('before the first sound the agent never speaks, and leaves no message', async () => {
    const trace = await play({
      user: [ASK, { speech: [3000, 4000], text: 'Stop!' }],
      llm: [{ ...STORY, durationMs: 1000 }, OKAY],
      end: 9000,
    });
    expect(states(trace).slice(0, 3)).toEqual(['3000 thinking', '3500 listening', '4500 thinking']);
    expect(messages(trace)).toEqual([
      ['user', 'Tell me a story.'],
      ['user', 'Stop!'],
      ['assistant', 'Okay.'],
    ]);
  });

  test.each([0, 100, 300, 500, 800, 1500])('a second thought %i ms after the end of the turn leaks no more than it must', async after => {
    const trace = await play({
      policy: {
        ...COMMON.policy,
        endpoint: { finishedMs: 250, unfinishedMs: 250 },
        interrupt: { ...COMMON.policy.interrupt, pauseMs: 50 },
      },
      vad: { onsetMs: 50, silenceMs: 250 },
      user: [
        { speech: [0, 400], text: 'hello' },
        { speech: [`turn_end + ${after}`, `turn_end + ${after + 700}`], text: 'actually no' },
      ],
      llm: [{ when: 'hello', firstTokenMs: 200, durationMs: 800, text: 'Hi! How are you today?', audioMs: 4000 }, OKAY],
      tts: { firstByteMs: 300 },
      end: 9000,
    });
    const leaked = after + 50 - 200 - 300;
    const cut = all(trace, 'audio_stop').find(line => 'generation' in line && line.generation === 1) as { playedMs: number } | undefined;
    expect(cut?.playedMs ?? 0).toBeLessThanOrEqual(Math.max(0, leaked));
    expect(messages(trace).at(-1)).toEqual(['assistant', 'Okay.']);
  });

  test('during a tool the call is not told twice and the next question is answered', async () => {
    const trace = await play({
      user: [ASK, { speech: [4000, 5000], text: 'Never mind.' }],
      llm: [{ when: 'Tell me a story.', tools: [{ name: 'look', ms: 8000 }], then: 'Found it.' }, OKAY],
      end: 12_000,
    });
    expect(times(trace, 'tool_start')).toHaveLength(1);
    expect(messages(trace).at(-1)).toEqual(['assistant', 'Okay.']);
  });
});

describe('what is no interruption', () => {
  const agent = { ...STORY, audioMs: 8000 };

  test.each([
    ['a cough', { noise: ['agent.speaking + 2000', 'agent.speaking + 2200'] }, ['noise'], []],
    ['mm-hmm', { speech: ['agent.speaking + 2000', 'agent.speaking + 2300'], text: 'mm-hmm' }, ['backchannel'], []],
    ['a long yeah, okay', { speech: ['agent.speaking + 2000', 'agent.speaking + 2600'], text: 'yeah, okay' }, ['backchannel'], ['pause']],
    ['a long noise', { noise: ['agent.speaking + 2000', 'agent.speaking + 2900'] }, ['noise'], ['pause']],
    ['speech of which no words come', { speech: ['agent.speaking + 2000', 'agent.speaking + 2900'], text: '' }, ['noise'], ['pause']],
  ] as const)('%s: every sample is heard', async (_, action, verdict, paused) => {
    const trace = await play({ user: [ASK, action as unknown as UserAction], llm: [agent], end: 20_000 });
    expect(verdicts(trace)).toEqual(verdict);
    expect(times(trace, 'pause')).toHaveLength(paused.length);
    expect(times(trace, 'flush')).toEqual([]);
    expect(played(trace)).toEqual([8000]);
    expect(messages(trace)).toEqual([
      ['user', 'Tell me a story.'],
      ['assistant', STORY.text],
    ]);
  });

  test('a pause goes on at the end of the sound and the time for words', async () => {
    const trace = await play({ user: [ASK, { noise: [5000, 6000] }], llm: [agent], end: 20_000 });
    expect(times(trace, 'pause')).toEqual([5500]);
    expect(times(trace, 'resume')).toEqual([8000]);
    frame(times(trace, 'audio_stop')[0], 3500 + 8000 + 2500 - 20);
  });

  test('a noise just before the first sound postpones it', async () => {
    const trace = await play({
      user: [ASK, { noise: [3000, 3300] }],
      llm: [{ ...STORY, firstTokenMs: 50, durationMs: 50, audioMs: 5000 }],
      tts: { firstByteMs: 50 },
      end: 12_000,
    });
    frame(times(trace, 'audio_first')[0], 3800);
    expect(played(trace)).toEqual([5000]);
  });

  test('what the microphone hears of the loudspeaker', async () => {
    const trace = await play({
      user: [ASK, { echo: true, at: 5000, ms: 400 }, { speech: [6000, 7000], text: 'upon a time there was' }],
      llm: [agent],
      end: 20_000,
    });
    expect(verdicts(trace)).toEqual(['echo', 'echo']);
    expect(played(trace)).toEqual([8000]);
  });

  test('is an answer when the agent is silent', async () => {
    const trace = await play({ user: [{ speech: [500, 1000], text: 'yeah' }], llm: [OKAY], end: 6000 });
    expect(messages(trace)).toEqual([
      ['user', 'yeah'],
      ['assistant', 'Okay.'],
    ]);
  });
});

describe('guesses', () => {
  const scenario = (preemptive: 'off' | 'text' | 'speech'): Scenario => ({
    policy: { ...COMMON.policy, preemptive },
    stt: { finalMs: 100 },
    tts: { firstByteMs: 300 },
    user: [{ speech: [0, 2000], text: 'Tell me a story.' }],
    llm: [{ ...STORY, audioMs: 2000 }],
    vad: { onsetMs: 50, silenceMs: 100 },
    end: 9000,
  });

  test.each([
    ['off', 1100],
    ['text', 800],
    ['speech', 700],
  ] as const)('%s: the first sound comes %i ms after the last word', async (preemptive, ms) => {
    const trace = await play(scenario(preemptive));
    frame(times(trace, 'audio_first')[0], 2000 + ms);
    expect(times(trace, 'turn_end')).toEqual([2500]);
    expect(times(trace, 'llm_request')).toHaveLength(1);
  });

  test('that are wrong leave no trace, and are no more than three in a turn', async () => {
    const fragments = [0, 1, 2, 3, 4].map((n): UserAction => ({ speech: [n * 1000, n * 1000 + 600], text: `part ${n}`, finalMs: 50 }));
    const trace = await play({ ...scenario('text'), user: fragments, llm: [OKAY] });
    expect(messages(trace)).toEqual([
      ['user', 'part 0 part 1 part 2 part 3 part 4'],
      ['assistant', 'Okay.'],
    ]);
    expect(all(trace, 'llm_request').filter(line => 'preemptive' in line)).toHaveLength(3);
  });

  test('run no tool before the turn is over', async () => {
    const trace = await play({ ...scenario('speech'), llm: [{ when: '*', tools: [{ name: 'look', ms: 100 }], then: 'Done.' }] });
    expect(times(trace, 'tool_start')).toEqual([2500]);
  });
});

describe('tools', () => {
  test('between two sentences the agent thinks, and a sound tells that it works', async () => {
    const trace = await play({
      user: [ASK],
      llm: [
        {
          when: '*',
          firstTokenMs: 100,
          durationMs: 300,
          text: 'Let me see.',
          tools: [{ name: 'get_time', ms: 3000 }],
          then: 'It is noon.',
        },
      ],
      end: 15_000,
    });
    expect(states(trace).map(state => state.split(' ')[1])).toEqual(['thinking', 'speaking', 'thinking', 'speaking', 'listening']);
    expect(messages(trace)).toEqual([
      ['user', 'Tell me a story.'],
      ['assistant', 'Let me see. It is noon.'],
    ]);
    frame(times(trace, 'hold_start')[0], 4050);
    expect(times(trace, 'hold_stop')).toEqual([6300]);
  });

  test('the sound begins 700 ms after the tool, and not for one that is quick', async () => {
    const slow = await play({ user: [ASK], llm: [{ when: '*', tools: [{ name: 'look', ms: 2000 }], then: 'Done.' }], end: 9000 });
    expect([times(slow, 'hold_start'), times(slow, 'hold_stop')]).toEqual([[3700], [5000]]);
    const quick = await play({ user: [ASK], llm: [{ when: '*', tools: [{ name: 'look', ms: 600 }], then: 'Done.' }], end: 9000 });
    expect(times(quick, 'hold_start')).toEqual([]);
  });

  test('who was away is back by typing', async () => {
    const trace = await play({
      policy: { ...COMMON.policy, awayMs: 3000 },
      user: [ASK, { typed: 'Still here.', at: 20_000 }],
      llm: [OKAY],
      end: 40_000,
    });
    expect(times(trace, 'away')).toHaveLength(2);
    expect(
      states(trace, 'user_state')
        .slice(-3)
        .map(state => state.split(' ')[1]),
    ).toEqual(['away', 'quiet', 'away']);
  });

  test('nobody is away while one runs', async () => {
    const trace = await play({
      policy: { ...COMMON.policy, awayMs: 3000 },
      user: [ASK],
      llm: [{ when: '*', text: 'One moment.', tools: [{ name: 'look', ms: 8000 }], then: 'Done.' }],
      end: 40_000,
    });
    const done = times(trace, 'audio_stop')[0] ?? 0;
    expect(times(trace, 'away')).toEqual([done + 3000]);
    expect(states(trace, 'user_state').at(-1)).toBe(`${done + 3000} away`);
  });
});

describe('failures', () => {
  test('a 429 that passes is not noticed', async () => {
    const trace = await play({ user: [ASK], llm: [{ when: '*', error: 'rate_limited', times: 1 }, OKAY], end: 9000 });
    expect(messages(trace).at(-1)).toEqual(['assistant', 'Okay.']);
    expect(times(trace, 'apology')).toEqual([]);
  });

  test('one that stays is said once, and the agent listens again', async () => {
    const trace = await play({
      user: [ASK, { speech: [9000, 10_000], text: 'And now?' }],
      llm: [{ when: 'Tell me a story.', error: 'rate_limited' }, OKAY],
      end: 20_000,
    });
    expect(times(trace, 'apology')).toHaveLength(1);
    expect(messages(trace).map(([, text]) => text)).toEqual([
      'Tell me a story.',
      'Sorry, I could not answer that. Please try again.',
      'And now?',
      'Okay.',
    ]);
  });
});

describe('protected speech and greeting', () => {
  test('what may not be interrupted is heard to its end, and the answer comes then', async () => {
    const trace = await play({
      user: [
        { say: 'This call is recorded for your safety.', at: 0, allowInterruptions: false },
        { speech: [500, 1200], text: 'Stop that.' },
      ],
      llm: [OKAY],
      end: 9000,
    });
    expect(messages(trace)).toEqual([
      ['assistant', 'This call is recorded for your safety.'],
      ['user', 'Stop that.'],
      ['assistant', 'Okay.'],
    ]);
  });

  test('the greeting comes first', async () => {
    const trace = await play({ greeting: 'Hello there.', user: [], llm: [], end: 5000 });
    expect(messages(trace)).toEqual([['assistant', 'Hello there.']]);
  });
});

describe('closing', () => {
  test.each([400, 800, 2600, 3050, 3200, 3400, 3600, 4500, 5100, 5300, 5600, 6100, 6400, 6550, 6900])(
    'at %i ms, in the middle of a barge-in, leaves nothing',
    async end => {
      await play({
        user: [ASK, { speech: [5000, 6000], text: 'Stop!' }],
        llm: [{ ...STORY, audioMs: 10_000, tools: [{ name: 'look', ms: 500 }] }, OKAY],
        end,
      });
    },
  );

  test('commits words that no turn has taken yet', async () => {
    const trace = await play({ user: [ASK], llm: [OKAY], end: 2800 });
    expect(messages(trace)).toEqual([['user', 'Tell me a story.']]);
  });
});

describe('a scenario that is none', () => {
  test.each([
    [[], /must be an object/],
    [{ user: [null] }, /user\[0\] must be an object/],
    [{ user: [{ typed: 5, at: 0 }] }, /user\[0\]\.typed must be a text/],
    [{ user: [{ speech: [0, 5], partials: 5 }] }, /user\[0\]\.partials must be a list/],
    [{ user: [{ speech: [0, 5], txt: 'x' }] }, /user\[0\] does not know "txt"/],
    [{ policy: 5 }, /policy must be an object/],
    [{ policy: { endpointt: {} } }, /policy does not know "endpointt"/],
    [{ policy: { endpoint: { finishedMs: 'x' } } }, /policy\.endpoint\.finishedMs must be a number/],
    [{ vad: { onsetMs: 'x' } }, /vad\.onsetMs must be milliseconds/],
    [{ tts: 5 }, /tts must be an object/],
    [{ llm: [{ when: '*', tools: 5 }] }, /llm\[0\]\.tools must be a list/],
    [{ greeting: 5 }, /greeting must be a text/],
    [{ users: [] }, /does not know "users"/],
    [{ user: [{ speech: [5, 1] }] }, /user\[0\] ends before it begins/],
    [{ user: [{ speech: ['soon', 5] }] }, /user\[0\]: nothing is called "soon"/],
    [{ user: [{ dance: true }] }, /user\[0\] must have one of/],
    [{ llm: [{ text: 'x' }] }, /llm\[0\]\.when/],
  ])('%j is refused with its place', async (scenario, message) => {
    await expect(runScenario(scenario)).rejects.toThrow(message);
  });
});
