import { runScenario, type Scenario, type TraceLine } from '@antiphon/voice/testing';
import { expect, test } from 'vitest';
import { type TurnReport, turnReport } from '../src/speech/turn-report.js';

/** Speech from 1000 to 2000, a silence of 800 that ends the turn, words 200 after the speech; first token after 300, first sound 100 after that. */
async function report(changes: Partial<Scenario>): Promise<TurnReport> {
  const trace = await runScenario({
    policy: { endpoint: { finishedMs: 800 }, preemptive: 'off' },
    vad: { onsetMs: 50, silenceMs: 300 },
    user: [{ speech: [1000, 2000], text: 'What time is it?' }],
    llm: [{ when: '*', text: 'Noon.', firstTokenMs: 300 }],
    tts: { firstByteMs: 100 },
    end: 20_000,
    ...changes,
  });
  return turnReport(
    trace.filter((line): line is Exclude<TraceLine, { type: 'user_speech_start' | 'user_speech_end' }> => !/^user_speech/.test(line.type)),
  );
}
const policy = (preemptive: 'off' | 'text' | 'speech') => ({ endpoint: { finishedMs: 800 }, preemptive });

test.each<[string, Partial<Scenario>, TurnReport['latencyMs']]>([
  [
    'a model that is asked when the turn is over',
    {},
    { endpoint: 800, stt: 0, firstToken: 300, firstClause: 300, firstAudio: 420, total: 1220 },
  ],
  // The guess is made at 2300, its first token comes at 2600.
  [
    'a guess: its first token was there before',
    { policy: policy('text') },
    { endpoint: 800, stt: 0, firstToken: 0, firstClause: 0, firstAudio: 120, total: 920 },
  ],
  [
    'a guess that is spoken before, too',
    { policy: policy('speech') },
    { endpoint: 800, stt: 0, firstToken: 0, firstClause: 0, firstAudio: 20, total: 820 },
  ],
  [
    'a guess that is slower than the turn',
    { policy: policy('text'), llm: [{ when: '*', text: 'Noon.', firstTokenMs: 900 }] },
    { endpoint: 800, stt: 0, firstToken: 400, firstClause: 400, firstAudio: 520, total: 1320 },
  ],
  [
    'words that come late',
    { user: [{ speech: [1000, 2000], text: 'What time is it?', finalMs: 900 }] },
    { endpoint: 900, stt: 600, firstToken: 300, firstClause: 300, firstAudio: 420, total: 1320 },
  ],
  [
    'a typed turn, which nobody heard',
    { user: [{ typed: 'What time is it?', at: 500 }] },
    { firstToken: 300, firstClause: 300, firstAudio: 420 },
  ],
  ['a model that gives no answer', { llm: [{ when: '*', error: 'down' }] }, { endpoint: 800, stt: 0 }],
])('%s', async (_, changes, latencyMs) => {
  expect((await report(changes)).latencyMs).toEqual(latencyMs);
});

test('a guess that was wrong is no part of the answer', async () => {
  const { transcript, reply, clauses, latencyMs } = await report({
    policy: policy('speech'),
    user: [
      { speech: [1000, 2000], text: 'What time is it?' },
      { speech: [2600, 3600], text: 'In Oslo?' },
    ],
    llm: [
      { when: 'What time is it?', text: 'Noon.' },
      { when: '*', text: 'One.', firstTokenMs: 300 },
    ],
  });
  expect({ transcript, reply, clauses }).toEqual({ transcript: 'What time is it? In Oslo?', reply: 'One.', clauses: ['One.'] });
  expect(latencyMs).toMatchObject({ endpoint: 800, firstToken: 0 });
});

test('a noise behind the words does not count as their end', async () => {
  const { latencyMs } = await report({ user: [{ speech: [1000, 2000], text: 'What time is it?' }, { noise: [2350, 2600] }] });
  expect(latencyMs.endpoint).toBeGreaterThanOrEqual(800);
  expect(latencyMs.total).toBeGreaterThan(1000);
});
