import { sleep } from '@antiphon/engine';
import { createVoiceSession, type PolicyChanges, type VoiceEvent } from '@antiphon/voice';
import {
  memorySink,
  type ScriptedAnswer,
  scriptedLlm,
  scriptedSource,
  scriptedStt,
  scriptedTts,
  scriptedVad,
  type VirtualClock,
  virtualClock,
} from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';

interface Scene {
  /** Stretches of sound from the user, in milliseconds. */
  readonly speech: readonly (readonly [number, number])[];
  readonly said: readonly (string | Error)[];
  readonly answers: readonly (string | ScriptedAnswer)[];
  readonly policy?: PolicyChanges;
  readonly endMs?: number;
  readonly failTtsOn?: string;
}

function stage({ speech, said, answers, policy, endMs = 20_000, failTtsOn }: Scene, clock: VirtualClock = virtualClock()) {
  const llm = scriptedLlm(answers, { clock });
  const tts = scriptedTts({ clock, firstByteMs: 200, msPerChar: 50, ...(failTtsOn === undefined ? {} : { failOn: failTtsOn }) });
  const sink = memorySink({ clock });
  const session = createVoiceSession({
    llm,
    vad: scriptedVad(),
    stt: scriptedStt(said, { clock, finalMs: 100 }),
    tts,
    source: scriptedSource(speech, { clock, endMs }),
    sink,
    clock,
    ...(policy ? { policy } : {}),
  });
  const events: VoiceEvent[] = [];
  const reader = session[Symbol.asyncIterator]();
  const read = (async () => {
    for (let next = await reader.next(); !next.done; next = await reader.next()) events.push(next.value);
  })();
  session.start();
  return { session, clock, llm, tts, sink, events, read };
}

async function play(scene: Scene) {
  const staged = stage(scene);
  await staged.clock.runAll(60_000);
  await staged.read;
  return staged;
}

const times = (events: readonly VoiceEvent[], type: VoiceEvent['type']) =>
  events.filter(event => event.type === type).map(event => event.t);
const messages = (events: readonly VoiceEvent[]) => events.flatMap(event => (event.type === 'message' ? [[event.role, event.text]] : []));

describe('a spoken turn', () => {
  test('goes from the question to the last sample, at exact times', async () => {
    const { events, llm, sink } = await play({
      speech: [[500, 2500]],
      said: ['Tell me a story.'],
      answers: [{ text: 'Once upon a time.', firstTokenMs: 100, durationMs: 300 }],
    });
    expect(messages(events)).toEqual([
      ['user', 'Tell me a story.'],
      ['assistant', 'Once upon a time.'],
    ]);
    // True end 2500; 300 of silence are seen at 2800; the words come 100 later, so the turn ends then.
    expect(times(events, 'vad_end')).toEqual([2800]);
    expect(times(events, 'turn_end')).toEqual([2900]);
    expect(times(events, 'llm_first_token')).toEqual([3000]);
    expect(times(events, 'llm_done')).toEqual([3200]);
    const [audioFirst] = times(events, 'audio_first');
    expect(audioFirst).toBeGreaterThanOrEqual(3400);
    expect(audioFirst).toBeLessThanOrEqual(3420);
    expect(llm.reports).toEqual([{ text: 'Once upon a time.', interrupted: false }]);
    expect(sink.audio.length).toBe('Once upon a time.'.length * 50 * 16);
    expect(events.at(-1)?.type).toBe('closed');
  });

  test('speaks the first clause while the model still writes', async () => {
    const { events } = await play({
      speech: [[0, 1000]],
      said: ['Go on.'],
      answers: [{ text: 'The first sentence is here. The second one comes much later on.', firstTokenMs: 100, durationMs: 5000 }],
    });
    expect(times(events, 'audio_first')[0]).toBeLessThan(times(events, 'llm_done')[0] ?? 0);
  });

  test('words that sound unfinished are waited for, and the fragments become one turn', async () => {
    const { events } = await play({
      speech: [
        [0, 1000],
        [2000, 3000],
      ],
      said: ['I want to reset the', 'panel.'],
      answers: ['Done.'],
    });
    expect(messages(events)).toEqual([
      ['user', 'I want to reset the panel.'],
      ['assistant', 'Done.'],
    ]);
  });

  test('a second thought before the first sound takes the first one along', async () => {
    const { events, llm } = await play({
      speech: [
        [0, 1000],
        [1440, 2500],
      ],
      said: ['My name is John.', 'Doe.'],
      answers: [{ text: 'Hello John.', firstTokenMs: 2000 }, 'Hello John Doe.'],
    });
    expect(llm.asked).toEqual(['My name is John.', 'My name is John. Doe.']);
    expect(llm.reports[0]).toEqual({ text: '', interrupted: true, withdrawn: true });
    expect(messages(events).filter(([role]) => role === 'assistant')).toEqual([['assistant', 'Hello John Doe.']]);
    expect(events.filter(event => event.type === 'agent_state').map(event => event.state)).toEqual([
      'thinking',
      'listening',
      'thinking',
      'speaking',
      'listening',
    ]);
  });

  test('a cough is no turn', async () => {
    const { events, llm } = await play({ speech: [[500, 640]], said: ['never asked'], answers: [] });
    expect(llm.asked).toEqual([]);
    expect(messages(events)).toEqual([]);
  });

  test('silence from speech to text is no turn', async () => {
    const { llm } = await play({ speech: [[500, 1500]], said: [''], answers: [] });
    expect(llm.asked).toEqual([]);
  });
});

describe('barge-in', () => {
  const story = 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen.';

  test('stops the sound within one output frame of the decision, and history keeps what was heard', async () => {
    const { events, sink, llm } = await play({
      speech: [
        [0, 1000],
        [4000, 5000],
      ],
      said: ['Tell me.', 'Stop.'],
      answers: [story, 'Okay.'],
    });
    const [paused] = times(events, 'pause');
    const interruption = events.find(event => event.type === 'message' && event.interrupted);
    expect(interruption).toMatchObject({ role: 'assistant' });
    const text = (interruption as { text: string }).text;
    expect(story.startsWith(text)).toBe(true);
    expect(text).toMatch(/\w$/);
    expect(llm.reports[0]).toEqual({ text, interrupted: true });
    // 300 ms of speech, to one frame.
    expect(paused).toBeGreaterThanOrEqual(4300);
    expect(paused).toBeLessThanOrEqual(4320);
    const stop = events.find(event => event.type === 'audio_stop') as { playedMs: number };
    const [first] = times(events, 'audio_first');
    expect(stop.playedMs).toBeLessThanOrEqual((paused ?? 0) - (first ?? 0) + 20);
    expect(sink.audio.length / 16).toBeGreaterThan(stop.playedMs);
    expect(messages(events).at(-1)).toEqual(['assistant', 'Okay.']);
  });

  test('a cough over the agent leaves every sample alone', async () => {
    const { events, sink } = await play({
      speech: [
        [0, 1000],
        [4000, 4200],
      ],
      said: ['Tell me.'],
      answers: [story],
    });
    expect(times(events, 'flush')).toEqual([]);
    expect(sink.audio.length).toBe(story.length * 50 * 16);
  });

  test('ends model, synthesis and queue', async () => {
    const { events, tts } = await play({
      speech: [
        [0, 1000],
        [4000, 5000],
      ],
      said: ['Tell me.', 'Stop.'],
      answers: [{ text: 'A first sentence. Then more. And more. And more still.', firstTokenMs: 10, durationMs: 60_000 }, 'Okay.'],
    });
    expect(times(events, 'llm_cancelled').length).toBe(1);
    expect(tts.spoken.at(-1)).toBe('Okay.');
    expect(times(events, 'llm_done').length).toBe(1);
  });

  test('can be switched off', async () => {
    const { events } = await play({
      speech: [
        [0, 1000],
        [3000, 3400],
      ],
      said: ['Tell me.', ''],
      answers: [story],
      policy: { interrupt: { pauseMs: false } },
    });
    expect(times(events, 'flush')).toEqual([]);
  });

  test('interrupt() stops at once and does not ask the question again', async () => {
    const staged = stage({ speech: [[0, 1000]], said: ['Tell me.'], answers: [story], endMs: 10_000 });
    await staged.clock.advance(3000);
    staged.session.interrupt();
    await staged.clock.runAll();
    await staged.read;
    expect(staged.llm.asked).toEqual(['Tell me.']);
    expect(staged.llm.reports.length).toBe(1);
    expect(staged.llm.reports[0]?.interrupted).toBe(true);
  });
});

describe('failures', () => {
  test('a model that fails once is asked again, and nobody notices', async () => {
    const { events, llm } = await play({ speech: [[0, 1000]], said: ['One.'], answers: [{ text: '', error: new Error('429') }, 'Fine.'] });
    expect(llm.asked).toEqual(['One.', 'One.']);
    expect(times(events, 'apology')).toEqual([]);
    expect(messages(events).at(-1)).toEqual(['assistant', 'Fine.']);
  });

  test('a model that fails is spoken about once, and the session goes on', async () => {
    const { events } = await play({
      speech: [
        [0, 1000],
        [8000, 9000],
      ],
      said: ['One.', 'Two.'],
      answers: [{ text: '', error: new Error('429') }, { text: '', error: new Error('429') }, 'Fine now.'],
      policy: { apology: 'Sorry.' },
    });
    expect(times(events, 'apology').length).toBe(1);
    expect(messages(events)).toEqual([
      ['user', 'One.'],
      ['assistant', 'Sorry.'],
      ['user', 'Two.'],
      ['assistant', 'Fine now.'],
    ]);
  });

  test('speech to text that fails loses its utterance only', async () => {
    const { events } = await play({
      speech: [
        [0, 1000],
        [3000, 4000],
      ],
      said: [new Error('broken'), new Error('broken'), 'Two.'],
      answers: ['Fine.'],
    });
    expect(events.find(event => event.type === 'error')).toMatchObject({ stage: 'stt' });
    expect(messages(events)).toEqual([
      ['user', 'Two.'],
      ['assistant', 'Fine.'],
    ]);
  });

  test('a clause that cannot be spoken does not hold up the others', async () => {
    const { events } = await play({ speech: [[0, 1000]], said: ['Go.'], answers: ['Good one. Bad one. Last one.'], failTtsOn: 'Bad' });
    expect(events.find(event => event.type === 'error')).toMatchObject({ stage: 'tts' });
    expect(times(events, 'tts_done').length).toBe(2);
    expect(events.at(-1)?.type).toBe('closed');
  });

  test.each(['🎉🎉', '…', ' — !! ', '```\n1+1\n```'])('an answer of %o says nothing and ends', async text => {
    const { events, tts } = await play({ speech: [[0, 1000]], said: ['Go.'], answers: [text] });
    expect(tts.spoken).toEqual([]);
    expect(times(events, 'llm_done').length).toBe(1);
    expect(events.at(-1)?.type).toBe('closed');
  });
});

describe('typed text and say()', () => {
  test('typed text is a turn at once', async () => {
    const staged = stage({ speech: [], said: [], answers: ['Hi.'], endMs: 5000 });
    await staged.clock.advance(100);
    staged.session.sendText('Hello');
    await staged.clock.runAll();
    await staged.read;
    expect(messages(staged.events)).toEqual([
      ['user', 'Hello'],
      ['assistant', 'Hi.'],
    ]);
    expect(times(staged.events, 'turn_end')).toEqual([100]);
  });

  test('sayings wait for each other', async () => {
    const staged = stage({ speech: [], said: [], answers: [], endMs: 5000 });
    staged.session.say('Welcome.');
    staged.session.say('How are you?');
    await staged.clock.runAll();
    await staged.read;
    expect(messages(staged.events)).toEqual([
      ['assistant', 'Welcome.'],
      ['assistant', 'How are you?'],
    ]);
  });
});

describe('closing', () => {
  // In each of these moments a session that is closed must leave nothing behind.
  test.each([0, 500, 1200, 1400, 1450, 1600, 1800, 2500, 4000])('at %i ms leaves no timer and no task', async at => {
    const staged = stage({
      speech: [[200, 1000]],
      said: ['Go.'],
      answers: [{ text: 'One two three. Four five six.', firstTokenMs: 50, durationMs: 400 }],
    });
    await staged.clock.advance(at);
    let closed = false;
    void staged.session.close().then(() => {
      closed = true;
    });
    await staged.clock.advance(40);
    expect(closed).toBe(true);
    await staged.read;
    expect(staged.clock.pending).toBe(0);
    expect(staged.events.at(-1)?.type).toBe('closed');
  });

  test('its signal closes it', async () => {
    const clock = virtualClock();
    const abort = new AbortController();
    const session = createVoiceSession({
      llm: scriptedLlm([], { clock }),
      vad: scriptedVad(),
      stt: scriptedStt([], { clock }),
      tts: scriptedTts({ clock }),
      source: scriptedSource([], { clock, endMs: 60_000 }),
      sink: memorySink({ clock }),
      clock,
      signal: abort.signal,
    });
    session.start();
    const waiting = sleep(clock, 1000);
    await clock.advance(1000);
    await waiting;
    abort.abort();
    await session.close();
    expect(session.state.closed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test('engines whose rates do not fit are refused with the way out', () => {
    const clock = virtualClock();
    const parts = {
      llm: scriptedLlm([], { clock }),
      vad: scriptedVad(),
      stt: scriptedStt([], { clock }),
      tts: scriptedTts({ clock }),
      source: scriptedSource([], { clock, endMs: 0 }),
    };
    expect(() => createVoiceSession({ ...parts, sink: memorySink({ sampleRate: 48_000 }) })).toThrow(/sink takes 48000 Hz; wrap/);
    expect(() => createVoiceSession({ ...parts, source: { ...parts.source, sampleRate: 44_100 }, sink: memorySink() })).toThrow(
      /resampledSource/,
    );
  });
});
