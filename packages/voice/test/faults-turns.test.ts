// Turns that are split, answered twice or lost; noises that kill a reply; replies that talk over the user.
import {
  checkTrace,
  type MemorySink,
  runScenario,
  type Scenario,
  type ScenarioAnswer,
  type Trace,
  type UserAction,
  virtualClock,
} from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';
import { all, mind, RATE, stage, times, told, voice, written } from './faults-support.js';

const STORY = 'Once there was a fox. It lived in a wood. One day it met a crow. They became friends. Nobody knows why.';
const OKAY = { when: '*', firstTokenMs: 100, text: 'Okay.' };

async function play(scenario: Scenario): Promise<Trace> {
  const trace = await runScenario({ stt: { finalMs: 100 }, tts: { firstByteMs: 200, msPerChar: 50 }, ...scenario });
  expect(checkTrace(trace)).toEqual([]);
  return trace;
}

describe('late words', () => {
  test.each([300, 1000, 2500, 6000])(
    'of the utterance before, %i ms late: one turn, in the order in which they were said',
    async finalMs => {
      const trace = await play({
        user: [
          { speech: [0, 1000], text: 'First this.', finalMs },
          { speech: [1450, 2500], text: 'Then that.', finalMs: 100 },
        ],
        llm: [OKAY],
        end: 15_000,
      });
      expect(told(trace)).toEqual(['user: First this. Then that.', 'assistant: Okay.']);
    },
  );

  test.each([100, 800, 1200, 2000, 4000])('that come %i ms after typed text has ended the turn are answered once', async late => {
    const engine = mind(['One answer, and a long one, about this and that.', 'Another.', 'A third.']);
    const scene = stage({ llm: engine.llm });
    scene.speech(0, 1000, 'Spoken words.', { finalMs: late });
    scene.at(1050, () => scene.session.sendText('Typed words.'));
    await scene.until(20_000);
    const trace = await scene.end();
    const users = told(trace).filter(text => text.startsWith('user'));
    expect(users.join(' ').match(/Spoken words/g)).toHaveLength(1);
    expect(users.join(' ').match(/Typed words/g)).toHaveLength(1);
    expect(told(trace).at(-1)).toMatch(/^assistant/);
    expect(written(engine.session().messages)).toEqual(told(trace));
  });

  test('of the last turn do not stop the next one early, nor end it twice', async () => {
    const trace = await play({
      user: [
        { speech: [0, 1000], text: 'First this.', finalMs: 2000 },
        { speech: [2900, 4500], text: 'then that', finalMs: 100 },
      ],
      llm: [OKAY],
      end: 15_000,
    });
    expect(all(trace, 'turn_end').map(({ text }) => text)).toEqual(['First this. then that']);
    expect(times(trace, 'turn_end')).toEqual([4800]);
  });

  test('that never come do not silence the agent for good', async () => {
    const trace = await play({
      user: [
        { speech: [0, 1000], text: 'Lost.', finalMs: 600_000 },
        { speech: [20_000, 21_000], text: 'Hello?', finalMs: 100 },
      ],
      llm: [OKAY],
      end: 40_000,
    });
    expect(told(trace)).toEqual(['user: Hello?', 'assistant: Okay.']);
    expect(all(trace, 'error')).toMatchObject([{ stage: 'stt' }]);
  });
});

describe('one thought, one answer', () => {
  test.each([400, 700, 1200, 1440])('a thought with a pause of %i ms in it is one turn', async gap => {
    const trace = await play({
      user: [
        { speech: [0, 1500], text: 'I want to reset the', unfinished: true },
        { speech: [1500 + gap, 2500 + gap], text: 'panel.' },
      ],
      llm: [OKAY],
      end: 12_000,
    });
    expect(told(trace)).toEqual(['user: I want to reset the panel.', 'assistant: Okay.']);
    expect(times(trace, 'llm_request')).toHaveLength(1);
  });

  test('a second part that comes when the reply has begun cuts it; both stand in the next request', async () => {
    const engine = mind(['Hello John, how nice to meet you here.', 'Hello John Doe.']);
    const scene = stage({ llm: engine.llm });
    scene.speech(0, 1000, 'My name is John.');
    scene.speech(1700, 2300, 'Doe it is.');
    await scene.until(9000);
    const trace = await scene.end();
    expect(JSON.stringify(engine.chat.requests.at(-1)?.messages)).toMatch(/My name is John\..*Doe it is\./);
    expect(all(trace, 'audio_stop').length).toBe(2);
    expect(written(engine.session().messages)).toEqual(told(trace));
  });

  test('law: whenever the second of two utterances begins, both are in the history once, and the last one is answered', async () => {
    for (let gap = 60; gap <= 3000; gap += 45) {
      const engine = mind([STORY, STORY, 'Okay.', 'x', 'x', 'x', 'x', 'x']);
      const scene = stage({ llm: engine.llm, vad: { onsetMs: 50, silenceMs: 100 } });
      scene.speech(0, 1000, 'First this.', { finalMs: 80 });
      scene.speech(1000 + gap, 1800 + gap, 'And then that.', { finalMs: 80 });
      await scene.until(30_000);
      const trace = await scene.end();
      const said = told(trace);
      expect({ gap, said: written(engine.session().messages) }).toEqual({ gap, said });
      const words = said.join(' ');
      expect([words.match(/First this/g)?.length, words.match(/And then that/g)?.length]).toEqual([1, 1]);
      expect(said.at(-1)).toMatch(/^assistant/);
    }
  });
});

describe('a guess', () => {
  const EARLY = { vad: { onsetMs: 50, silenceMs: 100 } } as const;

  test('that was wrong leaves nothing in the history, is never heard, and costs no more requests than allowed', async () => {
    for (const preemptive of ['text', 'speech'] as const)
      for (const guesses of [1, 2, 3]) {
        const engine = mind([...Array.from({ length: guesses }, () => 'A wrong answer. With two sentences.'), 'Right.']);
        const scene = stage({ llm: engine.llm, ...EARLY, policy: { preemptive, guesses, endpoint: { finishedMs: 600 } } });
        for (let i = 0; i < 5; i++) scene.speech(i * 1000, i * 1000 + 500, `part ${i}`, { finalMs: 50 });
        await scene.until(15_000);
        const trace = await scene.end();
        const text = 'part 0 part 1 part 2 part 3 part 4';
        expect(written(engine.session().messages)).toEqual([`user: ${text}`, 'assistant: Right.']);
        expect(engine.chat.requests).toHaveLength(guesses + 1);
        expect(engine.chat.requests.at(-1)?.messages).toHaveLength(1);
        expect(all(trace, 'audio_stop')).toMatchObject([{ playedMs: 'Right.'.length * 50 }]);
        expect(scene.sink.played).toBe(('Right.'.length * 50 * RATE) / 1000);
      }
  });

  test('that was right costs one request, though case and stops are different in the end', async () => {
    const engine = mind(['Done.']);
    const scene = stage({ llm: engine.llm, ...EARLY });
    scene.speech(0, 1000, 'Book a room.', { finalMs: 50 });
    await scene.until(9000);
    const trace = await scene.end();
    expect(engine.chat.requests).toHaveLength(1);
    expect(all(trace, 'llm_request')).toMatchObject([{ preemptive: true }]);
    expect(written(engine.session().messages)).toEqual(told(trace));
  });

  test('that fails is not tried again at once, costs its turn nothing, and is no reason to apologize', async () => {
    for (const failure of [new Error('429'), { text: 'A few words. And', error: new Error('reset') }]) {
      const engine = mind([failure, 'Right.', 'x', 'x']);
      const scene = stage({ llm: engine.llm, ...EARLY, policy: { preemptive: 'speech' } });
      scene.speech(0, 1000, 'Book a room.', { finalMs: 50 });
      await scene.until(15_000);
      const trace = await scene.end();
      expect(told(trace)).toEqual(['user: Book a room.', 'assistant: Right.']);
      expect(written(engine.session().messages)).toEqual(told(trace));
      expect(times(trace, 'apology')).toEqual([]);
      expect(engine.chat.requests).toHaveLength(2);
    }
  });

  test('that is interrupted does not leave the question in the history twice', async () => {
    const engine = mind([{ text: 'Never.', firstTokenMs: 500 }, 'Right.', 'x']);
    const scene = stage({ llm: engine.llm, ...EARLY });
    scene.speech(0, 1000, 'Book a room.', { finalMs: 50 });
    scene.at(1200, () => scene.session.interrupt());
    await scene.until(9000);
    const trace = await scene.end();
    expect(written(engine.session().messages)).toEqual(told(trace));
  });

  test('that is open when the session is closed leaves its words once', async () => {
    for (let at = 1000; at < 2000; at += 50) {
      const engine = mind([{ text: 'Never.', firstTokenMs: 300 }, 'x']);
      const scene = stage({ llm: engine.llm, ...EARLY });
      scene.speech(0, 1000, 'Book a room.', { finalMs: 50 });
      await scene.until(at);
      expect(told(await scene.end()).filter(text => text.startsWith('user'))).toEqual(at < 1050 ? [] : ['user: Book a room.']);
    }
  });
});

describe('noises and the reply', () => {
  const user: UserAction = { speech: [0, 1000], text: 'Tell me a story.' };
  const story = { when: '*', firstTokenMs: 300, durationMs: 600, text: STORY };

  test('law: a noise of any length at any moment kills no reply, and no sample of it is lost or repeated', async () => {
    for (let at = 1000; at < 8000; at += 230)
      for (const length of [120, 260, 600, 1500]) {
        const trace = await play({ user: [user, { noise: [at, at + length] }], llm: [story], end: 30_000 });
        const audio = all(trace, 'audio_stop').map(({ playedMs, queuedMs }) => [playedMs, queuedMs]);
        expect({ at, length, audio }).toEqual({ at, length, audio: [[STORY.trim().length * 50 - 4 * 50, STORY.length * 50 - 4 * 50]] });
        expect(told(trace)).toEqual(['user: Tell me a story.', `assistant: ${STORY}`]);
      }
  });

  test('words for listening at any moment of the reply change nothing in it', async () => {
    for (const text of ['mm-hmm', 'yeah, okay', 'なるほど', 'genau'])
      for (let at = 2000; at < 6000; at += 370) {
        const trace = await play({ user: [user, { speech: [at, at + 450], text }], llm: [story], end: 30_000 });
        expect(told(trace)).toEqual(['user: Tell me a story.', `assistant: ${STORY}`]);
        expect(all(trace, 'audio_stop')).toHaveLength(1);
        expect(times(trace, 'llm_request')).toHaveLength(1);
      }
  });

  test.each([
    ['wait', 'wait', 300],
    ['uhm okay stop', 'uhm okay stop', 700],
    ['yeah, and then?', 'yeah, and then?', 800],
  ])('"%s" is no listening: it ends the reply', async (_, text, length) => {
    const trace = await play({
      user: [user, { speech: [4000, 4000 + length], text, partials: [[200, text]] }],
      llm: [story, OKAY],
      end: 30_000,
    });
    expect(all(trace, 'message')[1]).toMatchObject({ role: 'assistant', interrupted: true });
    expect(times(trace, 'flush')[0]).toBeLessThanOrEqual(4000 + 300 + length + 100);
  });
});

describe('nobody is talked over', () => {
  test('whoever goes on speaking when the reply is ready holds it back', async () => {
    const trace = await play({
      user: [
        { speech: [0, 1000], text: 'Tell me a story.' },
        { speech: [1400, 5000], text: 'One about a fox, and make it a long one.' },
      ],
      llm: [{ when: '*', firstTokenMs: 50, text: STORY }],
      end: 20_000,
    });
    const [first] = times(trace, 'audio_first');
    expect(first).toBeGreaterThanOrEqual(5300);
  });

  test('what supersedes a reply ends its sound: the new one is never mixed with the old', async () => {
    const trace = await play({
      user: [
        { speech: [0, 1000], text: 'Tell me a story.' },
        { typed: 'Another one.', at: 3000 },
        { typed: 'No, this one.', at: 3050 },
        { speech: [5000, 6000], text: 'Stop it.' },
      ],
      llm: [{ when: '*', firstTokenMs: 50, text: STORY }],
      end: 20_000,
    });
    const sounds = trace.filter(({ type }) => type === 'audio_first' || type === 'audio_stop').map(({ type }) => type);
    expect(sounds.every((type, i) => type === (i % 2 === 0 ? 'audio_first' : 'audio_stop'))).toBe(true);
  });

  test.each<[string, readonly ScenarioAnswer[]]>([
    ['a tool works', [{ when: '*', text: 'Let me see.', tools: [{ name: 'look', ms: 2000 }], then: STORY }, OKAY]],
    ['the model thinks', [{ when: '*', firstTokenMs: 0, durationMs: 60_000, text: `Let me see. ${STORY}` }, OKAY]],
  ])('whoever begins to speak while %s, in the middle of a reply, interrupts it like anybody else', async (_, llm) => {
    for (let at = 2100; at < 5000; at += 130) {
      const trace = await play({
        user: [
          { speech: [0, 1000], text: 'Tell me a story.' },
          { speech: [at, at + 1500], text: 'No, tell me a joke.', partials: [[700, 'No tell']] },
        ],
        llm,
        end: at + 20_000,
      });
      expect({ at, asked: all(trace, 'llm_request')[1]?.t }).toEqual({ at, asked: at + 1800 });
      // Three tenths of a second, and what the loudspeaker has.
      const over = trace.filter(({ type, t }) => (type === 'audio_first' || type === 'resume') && t > at + 320 && t < at + 1800);
      expect({ at, over }).toEqual({ at, over: [] });
    }
  });

  test('words for listening while a tool works in the middle of a reply do not end it', async () => {
    for (let at = 2100; at < 4200; at += 150) {
      const trace = await play({
        user: [
          { speech: [0, 1000], text: 'Tell me a story.' },
          { speech: [at, at + 400], text: 'mm-hmm' },
        ],
        llm: [{ when: '*', text: 'Let me see.', tools: [{ name: 'look', ms: 2000 }], then: STORY }],
        end: 30_000,
      });
      expect(told(trace)).toEqual(['user: Tell me a story.', `assistant: Let me see. ${STORY}`]);
    }
  });

  test('what is said while something that may not be interrupted is heard is answered after it', async () => {
    const trace = await play({
      user: [
        { say: 'This call is recorded for your safety and ours.', at: 0, allowInterruptions: false },
        { say: STORY, at: 0 },
        { speech: [2000, 7000], text: 'I have a question about my bill.', partials: [[4000, 'a question about my bill']] },
      ],
      llm: [OKAY],
      end: 30_000,
    });
    expect(all(trace, 'audio_first')[1]?.t).toBeGreaterThanOrEqual(7300);
    expect(told(trace)).toContain('assistant: Okay.');
  });
});

describe('what is told', () => {
  test('every request has an end, and every event of a reply has its turn and generation', async () => {
    const trace = await play({
      user: [
        { speech: [0, 1000], text: 'Tell me a story.' },
        { speech: [1400, 2000], text: 'Of a fox.' },
        { speech: [4000, 5000], text: 'Stop it.' },
        { typed: 'One.', at: 8000 },
        { typed: 'Two.', at: 8010 },
      ],
      llm: [{ when: '*', firstTokenMs: 200, durationMs: 1000, text: STORY }],
      end: 20_000,
    });
    for (const { generation, turn } of all(trace, 'llm_request')) {
      const ends = trace.filter(line => (line.type === 'llm_done' || line.type === 'llm_cancelled') && line.generation === generation);
      expect({ generation, ends: ends.length }).toEqual({ generation, ends: 1 });
      expect(turn).toBeGreaterThan(0);
    }
    for (const { turn, supersedes } of all(trace, 'turn_end')) expect(supersedes ?? 0).toBeLessThan(turn);
  });

  test('a reply that fails has an end too, also while a tool of it runs', async () => {
    const llm = { when: '*', text: 'Let me see.', tools: [{ name: 'look', ms: 3000 }], then: STORY };
    const trace = await play({ user: [{ speech: [0, 1000], text: 'Look.' }], llm: [llm], tts: { failOn: 'see' }, end: 9000 });
    expect(all(trace, 'llm_cancelled')).toMatchObject([{ turn: 1, generation: 1 }]);
    expect(times(trace, 'apology')).toHaveLength(1);
  });

  test('a voice that comes in pieces of any length is heard to its last sample', async () => {
    for (const length of [1, 7, 319, 1601, 65_536]) {
      const given: number[] = [];
      const engine = mind(['One. Two.']);
      const scene = stage({
        llm: engine.llm,
        tts: () => ({
          ...voice(virtualClock()),
          async *synthesize(text) {
            const samples = Float32Array.from({ length: text.trim().length * 511 }, (_, i) => Math.sin(given.length + i) / 2);
            given.push(...samples);
            for (let at = 0; at < samples.length; at += length) yield { samples: samples.slice(at, at + length) };
          },
        }),
      });
      scene.at(0, () => scene.session.sendText('Count.'));
      await scene.until(9000);
      await scene.end();
      expect([...(scene.sink as MemorySink).audio]).toEqual(given);
    }
  });

  test('times count from the true end of speech, so the wait for silence is not hidden', async () => {
    const trace = await play({ user: [{ speech: [0, 1000], text: 'Hello.' }], llm: [OKAY], end: 9000 });
    expect(all(trace, 'vad_end')).toMatchObject([{ t: 1300, endedAt: 1000 }]);
    expect(all(trace, 'vad_start')).toMatchObject([{ t: 50, startedAt: 0 }]);
    expect(times(trace, 'llm_first_token')).toEqual([1400]);
  });

  test('synthesis does not hold up the model: its tokens come while a slow voice speaks', async () => {
    const engine = mind([{ text: STORY, perChunkMs: 20 }]);
    const scene = stage({ llm: engine.llm, tts: clock => voice(clock, { firstByteMs: 5000 }) });
    scene.at(0, () => scene.session.sendText('Tell me a story.'));
    await scene.until(60_000);
    const trace = await scene.end();
    expect(times(trace, 'llm_done')[0]).toBeLessThanOrEqual(20 * STORY.split(' ').length);
    expect(told(trace).at(-1)).toBe(`assistant: ${STORY}`);
  });
});
