// What history holds is what was heard, whenever and however a reply is cut.
import { tool } from '@antiphon/engine';
import type { ScriptedReply } from '@antiphon/engine/testing';
import type { TextToSpeech } from '@antiphon/voice';
import { randomScenario, type VirtualClock } from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';
import { all, mind, pause, RATE, stage, told, voice, written } from './faults-support.js';

const STORY = 'Once there was a fox. It lived in a wood. One day it met a crow. They became friends. Nobody knows why.';
const CHINESE = '从前有一只狐狸。它住在森林里。有一天它遇到了一只乌鸦。';

/** A typed question, a cut so long after the first sound, and another question; gives what was told and what the second request held. */
async function cutAfter(
  ms: number,
  text: string,
  { perChunkMs = 0, tts = voice }: { perChunkMs?: number; tts?: (clock: VirtualClock) => TextToSpeech } = {},
) {
  const engine = mind([{ text, perChunkMs }, 'Okay.']);
  const play = stage({ llm: engine.llm, tts });
  play.at(0, () => play.session.sendText('Tell me a story.'));
  const stop = play.session.watch(event => {
    if (event.type !== 'audio_first') return;
    stop();
    play.at(event.t + ms, () => play.session.interrupt());
    play.at(event.t + ms + 500, () => play.session.sendText('And then?'));
  });
  await play.until(20_000);
  const trace = await play.end();
  return { trace, request: engine.chat.requests[1]?.messages ?? [], engine };
}

describe('the next request holds what was heard', () => {
  const moments = Array.from({ length: 56 }, (_, i) => i * 100);

  test.each([
    ['with a model that still writes', STORY, { perChunkMs: 200 }],
    ['with a model that is done, while the tail plays', STORY, {}],
    ['with sound in many pieces', STORY, { tts: (clock: VirtualClock) => voice(clock, { pieces: 7 }) }],
    ['in Chinese', CHINESE, { tts: (clock: VirtualClock) => voice(clock, { msPerChar: 200 }) }],
  ])('at every moment of a reply: %s', async (_, text, options) => {
    const cuts = new Set<string>();
    for (const ms of moments) {
      const { trace, request } = await cutAfter(ms, text, options);
      const said = all(trace, 'message').find(({ role, turn }) => role === 'assistant' && turn === 1);
      expect(text.startsWith(said?.text ?? '')).toBe(true);
      expect(said?.interrupted ?? said === undefined).toBe(said?.text !== text);
      expect(written(request)).toEqual(told(trace).slice(0, request.length));
      expect(request).toHaveLength(said ? 3 : 2);
      cuts.add(said?.text ?? '');
      // One word more or less than the sound says.
      const perChar = text === CHINESE ? 200 : 50;
      if (said) expect(Math.abs(said.text.length * perChar - (said.playedMs ?? 0))).toBeLessThanOrEqual(10 * perChar);
    }
    expect(cuts.size).toBeGreaterThan(10);
  });

  test('also of words on both sides of a tool, which do not run into each other', async () => {
    const look = tool({ name: 'look', description: 'Looks.', run: () => 'found' });
    const after = 'It lived in a wood. One day it met a crow.';
    for (const before of ['One moment.', 'Let me look', 'Well: ']) {
      const whole = `${before.trimEnd()} ${after}`;
      const cuts = new Set<string>();
      for (let ms = 0; ms <= 4000; ms += 200) {
        const engine = mind([{ text: before, toolCalls: [{ name: 'look' }] }, after, 'Okay.'], [look]);
        const play = stage({ llm: engine.llm });
        play.at(0, () => play.session.sendText('Tell me a story.'));
        play.at(200 + ms, () => play.session.interrupt());
        play.at(5000, () => play.session.sendText('And then?'));
        await play.until(9000);
        const trace = await play.end();
        const said = all(trace, 'message').find(({ role, turn }) => role === 'assistant' && turn === 1)?.text ?? '';
        expect(whole.startsWith(said)).toBe(true);
        const kept = written(engine.chat.requests.at(-1)?.messages ?? []).filter(text => text.startsWith('assistant: '));
        expect(kept.map(text => text.slice('assistant: '.length).trim()).join(' ')).toBe(said);
        expect(all(trace, 'tts_request')[0]?.text).toBe(before.trim());
        cuts.add(said);
      }
      expect(cuts.size).toBeGreaterThan(6);
    }
  });

  test('at 0 ms: no assistant message, no empty one, and the question is there once', async () => {
    const engine = mind([STORY, 'Okay.']);
    const play = stage({ llm: engine.llm });
    play.at(0, () => play.session.sendText('Tell me a story.'));
    const stop = play.session.watch(event => {
      if (event.type !== 'audio_first') return;
      stop();
      play.session.interrupt();
    });
    play.at(2000, () => play.session.sendText('And then?'));
    await play.until(9000);
    await play.end();
    expect(engine.chat.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  test('two cuts in one conversation each cut their own reply', async () => {
    const engine = mind([STORY, 'The second answer is a long one too. It goes on and on.', 'Okay.']);
    const play = stage({ llm: engine.llm });
    play.speech(500, 1500, 'Tell me a story.');
    play.speech(4000, 5000, 'What is that?');
    play.speech(7500, 8500, 'Stop it now.');
    await play.until(20_000);
    const trace = await play.end();
    expect(all(trace, 'message').map(({ role, interrupted }) => (interrupted ? 'cut' : role))).toEqual([
      'user',
      'cut',
      'user',
      'cut',
      'user',
      'assistant',
    ]);
    expect(written(engine.session().messages)).toEqual(told(trace));
    expect(written(engine.chat.requests[2]?.messages ?? [])).toEqual(told(trace).slice(0, 5));
  });

  test('words that say where they stand cut on the very word', async () => {
    const words = (clock: VirtualClock): TextToSpeech => ({
      name: 'marks',
      sampleRate: RATE,
      async *synthesize(text, { signal } = {}) {
        await pause(clock, 100, signal);
        const marks = [...text.matchAll(/\S+/g)].map(({ 0: word, index }, i) => ({
          start: index,
          end: index + word.length,
          sample: i * RATE,
        }));
        yield { samples: new Float32Array(marks.length * RATE).fill(0.1), words: marks };
      },
      close: async () => {},
    });
    const { trace } = await cutAfter(3500, 'one two three four five six seven', { tts: words });
    expect(all(trace, 'message')[1]).toMatchObject({ text: 'one two three', interrupted: true });
  });

  test.each([0, 1, 20])('a question that is overtaken after %i ms is kept, and so is what was heard before it', async ms => {
    const engine = mind([STORY, 'Okay.', 'Okay.']);
    const play = stage({ llm: engine.llm });
    play.at(0, () => play.session.sendText('Tell me a story.'));
    play.at(2000, () => play.session.interrupt());
    play.at(2500, () => {
      play.session.sendText('And then?');
      if (ms === 0) play.session.sendText('No, wait.');
    });
    if (ms > 0) play.at(2500 + ms, () => play.session.sendText('No, wait.'));
    await play.until(12_000);
    const trace = await play.end();
    expect(told(trace)).toContain('user: And then?');
    expect(all(trace, 'message')[1]?.text).toMatch(/^Once there was a fox/);
    expect(written(engine.session().messages)).toEqual(told(trace));
  });
});

describe('conversations by chance', () => {
  const look = tool({ name: 'look', description: 'Looks.', run: () => 'found' });
  const turns: readonly ScriptedReply[] = [
    { text: STORY },
    { text: STORY, perChunkMs: 100 },
    { text: CHINESE, firstTokenMs: 300 },
    { text: 'Okay.' },
    { text: 'One moment.', toolCalls: [{ name: 'look' }] },
    { toolCalls: [{ name: 'look' }], firstTokenMs: 100 },
    { text: 'A few words. And', error: new Error('reset'), perChunkMs: 50 },
    { error: new Error('down') },
  ];

  test.each(Array.from({ length: 3 }, (_, i) => i * 100))(
    'law: the engine’s history is what the events tell, from seed %i',
    async first => {
      for (let seed = first; seed < first + 100; seed++) {
        const { user = [], policy = {}, vad } = randomScenario(seed);
        const engine = mind(
          Array.from({ length: 60 }, (_, i) => turns[(seed * 7 + i * i * 3) % turns.length] as ScriptedReply),
          [look],
        );
        const play = stage({
          ...{ llm: engine.llm, policy, vad: { onsetMs: 50, silenceMs: 300, ...vad } },
          tts: clock => voice(clock, { msPerChar: seed % 2 ? 20 : 50, firstByteMs: 100 * (seed % 3) }),
        });
        for (const action of user) {
          if ('typed' in action) play.at(Number(action.at), () => play.session.sendText(action.typed));
          else if ('interrupt' in action) play.at(Number(action.at), () => play.session.interrupt());
          else if ('noise' in action) play.speech(Number(action.noise[0]), Number(action.noise[1]));
          else if ('speech' in action) {
            const { speech, text = '', finalMs = 100, unfinished, partials = [] } = action;
            play.speech(Number(speech[0]), Number(speech[1]), text, { finalMs, finished: unfinished !== true, partials });
          }
        }
        await play.until(60_000);
        const trace = await play.end();
        // An apology is said unasked, and its words are part of the history like any others.
        expect({ seed, written: joined(written(engine.session().messages)) }).toEqual({ seed, written: joined(told(trace)) });
      }
    },
  );

  /** Without the joints between words before and after a tool. */
  const joined = (lines: readonly string[]) =>
    lines
      .join('\n')
      .replace(/\nassistant: /g, ' ')
      .replace(/\s+/g, ' ');
});

describe('a voice that dies', () => {
  const dying = (clock: VirtualClock, dies: (text: string) => boolean, how: 'silently' | 'never ends'): TextToSpeech => ({
    ...voice(clock),
    async *synthesize(text, options = {}) {
      if (!dies(text)) return yield* voice(clock).synthesize(text, options);
      if (how === 'never ends')
        await new Promise((_, reject) => options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true }));
    },
  });

  test('without a sound and without an error: the failure is told, and history does not hold what nobody heard', async () => {
    const engine = mind([STORY, 'Okay.']);
    const play = stage({ llm: engine.llm, tts: clock => dying(clock, () => true, 'silently') });
    play.at(0, () => play.session.sendText('Tell me a story.'));
    play.at(5000, () => play.session.sendText('And then?'));
    await play.until(9000);
    const trace = await play.end();
    expect(all(trace, 'error').length).toBeGreaterThan(0);
    expect(told(trace)).toEqual(['user: Tell me a story.', 'user: And then?']);
    expect(written(engine.chat.requests[1]?.messages ?? [])).toEqual(['user: Tell me a story.', 'user: And then?']);
  });

  test('in the middle: history ends where the sound ended', async () => {
    const engine = mind([STORY, 'Okay.']);
    let dead = false;
    const tts = (clock: VirtualClock) =>
      dying(
        clock,
        text => {
          dead ||= text.includes('wood');
          return dead && !text.startsWith('Okay');
        },
        'silently',
      );
    const play = stage({ llm: engine.llm, tts });
    play.at(0, () => play.session.sendText('Tell me a story.'));
    play.at(9000, () => play.session.sendText('And then?'));
    await play.until(12_000);
    const trace = await play.end();
    expect(told(trace)).toEqual(['user: Tell me a story.', 'assistant: Once there was a fox.', 'user: And then?', 'assistant: Okay.']);
    expect(written(engine.session().messages)).toEqual(told(trace));
  });

  test('and never ends: what was heard before stays, and the next question is answered', async () => {
    const engine = mind([STORY, 'Okay.']);
    const play = stage({ llm: engine.llm, tts: clock => dying(clock, text => text.includes('crow'), 'never ends') });
    play.at(0, () => play.session.sendText('Tell me a story.'));
    play.speech(9000, 9800, 'Are you there?');
    await play.until(15_000);
    const trace = await play.end();
    expect(told(trace)).toEqual([
      'user: Tell me a story.',
      'assistant: Once there was a fox. It lived in a wood.',
      'user: Are you there?',
      'assistant: Okay.',
    ]);
    expect(written(engine.session().messages)).toEqual(told(trace));
  });
});
