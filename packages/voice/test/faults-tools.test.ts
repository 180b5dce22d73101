// Tools with interruptions and guesses: effects happen once, results are kept, and nothing waits for a tool that nobody wants any more.
import { tool } from '@antiphon/engine';
import { describe, expect, test } from 'vitest';
import { all, mind, pause, stage, times, told, written } from './faults-support.js';

const CALL = { text: 'One moment.', toolCalls: [{ id: 'c1', name: 'book' }] };

/** A tool that takes its time, and tells what it did. */
function booking(ms: number) {
  const log: string[] = [];
  let play: ReturnType<typeof stage>;
  const book = tool({
    name: 'book',
    description: 'Books a room.',
    run: async (_, { signal }) => {
      log.push('begun');
      await pause(play.clock, ms, signal);
      log.push('booked');
      return 'Room 7.';
    },
  });
  return {
    log,
    book,
    stage: (options: Parameters<typeof stage>[0]) => {
      play = stage(options);
      return play;
    },
  };
}

describe('a call that is cut', () => {
  test.each([
    ['10 ms after it began', 10],
    ['in the middle', 1000],
    ['1 ms before its result', 1999],
    ['at the moment of its result', 2000],
  ])('%s runs once, and call and output are both there before the next request', async (_, ms) => {
    const tools = booking(2000);
    const engine = mind([CALL, 'It is booked.', 'Okay.'], [tools.book]);
    const play = tools.stage({ llm: engine.llm });
    play.at(0, () => play.session.sendText('Book a room.'));
    play.session.watch(event => {
      if (event.type === 'tool_start') play.at(event.t + ms, () => play.session.sendText('And then?'));
    });
    await play.until(12_000);
    const trace = await play.end();
    expect(tools.log.filter(line => line === 'begun')).toHaveLength(1);
    // `scripted` refuses a request with an unanswered call.
    const last = engine.chat.requests.at(-1)?.messages ?? [];
    expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(engine.chat.requests.length).toBeLessThanOrEqual(3);
    expect(told(trace).at(-1)).toMatch(/^assistant: /);
    expect(times(trace, 'error')).toEqual([]);
  });

  test('by speech: the next question is answered while the tool is forgotten', async () => {
    const log: string[] = [];
    const book = tool({
      name: 'book',
      description: 'Never ends, whatever its signal says.',
      run: () => {
        log.push('begun');
        return new Promise<string>(() => {});
      },
    });
    const engine = mind([CALL, 'Okay.'], [book]);
    const play = stage({ llm: engine.llm });
    play.speech(500, 1500, 'Book a room.');
    play.speech(5000, 6000, 'Never mind.');
    await play.until(20_000);
    const answered = all(play.trace, 'audio_first').find(({ turn }) => turn === 2);
    expect(answered?.t).toBeLessThanOrEqual(6000 + 300 + 200 + 100);
    expect(log).toEqual(['begun']);
    await play.end();
  });

  test('a result that was ready is part of the history, and the next reply knows it', async () => {
    const tools = booking(500);
    const engine = mind([CALL, 'It is booked, it is room number seven on the second floor.', 'Room seven.'], [tools.book]);
    const play = tools.stage({ llm: engine.llm });
    play.speech(500, 1500, 'Book a room.');
    play.speech(4000, 5000, 'Which one is it?');
    await play.until(20_000);
    const trace = await play.end();
    const last = engine.chat.requests.at(-1)?.messages ?? [];
    expect(JSON.stringify(last)).toContain('Room 7.');
    expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
    expect(all(trace, 'message').map(({ interrupted }) => interrupted === true)).toEqual([false, true, false, false]);
    expect(tools.log).toEqual(['begun', 'booked']);
  });

  test('a result that comes while the user speaks is not dropped: it is there for the answer to what was said', async () => {
    const tools = booking(3000);
    const engine = mind([CALL, 'It is booked.', 'Room seven, on the second floor.'], [tools.book]);
    const play = tools.stage({ llm: engine.llm, policy: { interrupt: { pauseMs: false } } });
    play.speech(500, 1500, 'Book a room.');
    play.speech(4500, 6500, 'Which one is it?');
    await play.until(20_000);
    const trace = await play.end();
    expect(tools.log).toEqual(['begun', 'booked']);
    expect(told(trace).at(-1)).toBe('assistant: Room seven, on the second floor.');
    expect(JSON.stringify(engine.chat.requests.at(-1)?.messages)).toContain('Room 7.');
  });

  test('and fails, or is none that exists: the model is told, and the turn is answered', async () => {
    for (const name of ['book', 'nobody']) {
      const book = tool({
        name: 'book',
        description: 'Books.',
        run: () => {
          throw new Error('full');
        },
      });
      const engine = mind([{ toolCalls: [{ name }] }, 'That did not work.'], [book]);
      const play = stage({ llm: engine.llm });
      play.speech(500, 1500, 'Book a room.');
      await play.until(9000);
      const trace = await play.end();
      expect(told(trace)).toEqual(['user: Book a room.', 'assistant: That did not work.']);
    }
  });
});

describe('a guess', () => {
  const GUESSING = { vad: { onsetMs: 50, silenceMs: 100 }, policy: { preemptive: 'speech' } } as const;

  test('runs no tool before the turn is over, and then once', async () => {
    const tools = booking(200);
    const engine = mind([{ toolCalls: [{ id: 'c1', name: 'book' }] }, 'It is booked.'], [tools.book]);
    const play = tools.stage({ llm: engine.llm, ...GUESSING });
    play.speech(0, 1000, 'Book a room.', { finalMs: 50 });
    await play.until(1299);
    expect(all(play.trace, 'llm_request')).toMatchObject([{ preemptive: true, t: 1100 }]);
    expect(tools.log).toEqual([]);
    await play.until(9000);
    const trace = await play.end();
    expect(times(trace, 'tool_start')).toEqual([1300]);
    expect(tools.log).toEqual(['begun', 'booked']);
    expect(written(engine.session().messages)).toEqual(['user: Book a room.', 'assistant: It is booked.']);
  });

  test('that was wrong runs none, ever, and leaves nothing in the history', async () => {
    const tools = booking(200);
    const engine = mind([{ toolCalls: [{ id: 'c1', name: 'book' }] }, 'Okay, no room.', 'x'], [tools.book]);
    const play = tools.stage({ llm: engine.llm, ...GUESSING });
    play.speech(0, 1000, 'Book a room.', { finalMs: 50 });
    play.speech(1200, 2000, 'Or rather not.', { finalMs: 150 });
    await play.until(9000);
    const trace = await play.end();
    expect(tools.log).toEqual([]);
    expect(written(engine.session().messages)).toEqual(['user: Book a room. Or rather not.', 'assistant: Okay, no room.']);
    expect(written(engine.session().messages)).toEqual(told(trace));
  });

  test('is not made while a tool runs: no result is made up', async () => {
    const tools = booking(4000);
    const engine = mind([CALL, 'Room seven it is.', 'Okay.'], [tools.book]);
    const play = tools.stage({ llm: engine.llm, ...GUESSING, policy: { ...GUESSING.policy, interrupt: { pauseMs: false } } });
    play.speech(0, 1000, 'Book a room.', { finalMs: 50 });
    play.speech(3000, 3600, 'And hurry.', { finalMs: 50 });
    await play.until(20_000);
    const trace = await play.end();
    const [end] = times(trace, 'tool_end');
    const requests = times(trace, 'llm_request').filter(t => t > 2000);
    expect(requests.every(t => t >= (end ?? 0))).toBe(true);
    expect(told(trace).filter(text => text.includes('seven'))).toHaveLength(1);
  });
});
