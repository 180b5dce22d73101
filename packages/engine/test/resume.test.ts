import { assistant, foldEvents, type Message, type ResumeDecisions, toolResult, user } from '@antiphon/engine';
import { describe, expect, test } from 'vitest';
import { collect, comparable, plainTool, resultsOf, settled, setUp } from './support.js';

const made = (...ids: string[]): Message =>
  assistant(ids.map(id => ({ type: 'tool_call' as const, id, name: id.replace(/_.*/, ''), arguments: {}, rawArguments: '{}' })));

function stage(turns: Parameters<typeof setUp>[0]) {
  const ran: string[] = [];
  const note = (name: string, more = {}) =>
    plainTool(
      name,
      (_: unknown, { call }) => {
        ran.push(call.id);
        return `${call.id} done`;
      },
      more,
    );
  return {
    ran,
    ...setUp(turns, { tools: [note('works'), note('asks', { approve: true }), plainTool('manual', undefined, { manual: true })] }),
  };
}

describe('resume', () => {
  const thread = [user('Go.'), made('works_1', 'asks_1', 'works_2'), toolResult('works_2', 'earlier', { name: 'works' })];

  test.each<[string, ResumeDecisions, string[], [string, string][]]>([
    [
      'runs what is to run',
      { works_1: { type: 'run' } },
      ['works_1'],
      [
        ['works_1', 'works_1 done'],
        ['asks_1', 'not run'],
        ['works_2', 'earlier'],
      ],
    ],
    [
      'runs what was approved',
      { works_1: { type: 'run' }, asks_1: { type: 'approved' } },
      ['works_1', 'asks_1'],
      [
        ['works_1', 'works_1 done'],
        ['asks_1', 'asks_1 done'],
        ['works_2', 'earlier'],
      ],
    ],
    [
      'takes a given result',
      { works_1: { type: 'result', content: 'given' } },
      [],
      [
        ['works_1', 'given'],
        ['asks_1', 'not run'],
        ['works_2', 'earlier'],
      ],
    ],
    [
      'never runs what has a result',
      { works_2: { type: 'run' }, works_1: { type: 'result', content: 'x' } },
      [],
      [
        ['works_1', 'x'],
        ['asks_1', 'not run'],
        ['works_2', 'earlier'],
      ],
    ],
  ])('%s', async (_, resume, expectedRuns, results) => {
    const { engine, clock, ran, chat } = stage(['Done.']);
    const outcome = await settled(clock, engine.chat(thread, { resume }));
    expect(outcome).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(ran).toEqual(expectedRuns);
    const expected = results.map(([id, text]) => [id, expect.stringContaining(text)]);
    expect(resultsOf(outcome)).toEqual(expected);
    expect(chat.requests[0]?.messages).toEqual(outcome.messages.slice(0, -1));
  });

  test('asks again for what needs an approval, leaves it open, and calls no model', async () => {
    const { engine, clock, ran, chat } = stage([]);
    const outcome = await settled(clock, engine.chat(thread, { resume: { works_1: { type: 'run' }, asks_1: { type: 'run' } } }));
    expect(outcome).toMatchObject({ status: 'interrupted', reason: 'approval', pending: { approvals: [{ id: 'asks_1' }] } });
    expect(ran).toEqual(['works_1']);
    expect(resultsOf(outcome).map(([id]) => id)).toEqual(['works_1', 'works_2']);
    expect(chat.requests).toEqual([]);
  });

  test('an approved call may have other arguments', async () => {
    let seen: unknown;
    const { engine, clock } = setUp(['Done.'], {
      tools: [
        plainTool(
          'asks',
          (args: unknown) => {
            seen = args;
            return 'ok';
          },
          { approve: true, input: { type: 'object' } } as never,
        ),
      ],
    });
    await settled(
      clock,
      engine.chat([user('Go.'), made('asks_1')], { resume: { asks_1: { type: 'approved', arguments: { city: 'Oslo' } } } }),
    );
    expect(seen).toEqual({ city: 'Oslo' });
  });

  test.each<[string, ResumeDecisions]>([
    ['run', { works_1: { type: 'run' } }],
    ['approval asked again', { asks_1: { type: 'run' } }],
    ['given', { works_1: { type: 'result', content: 'given', isError: true } }],
  ])('law: the events fold to the outcome (%s)', async (_, resume) => {
    const stream = stage(['Done.']).engine.stream(thread, { resume, requestId: 'r' });
    const events = await collect(stream);
    expect(comparable(foldEvents(events, { messages: thread }))).toEqual(comparable(await stream.outcome));
  });
});
