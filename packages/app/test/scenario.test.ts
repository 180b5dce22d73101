import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fuzz, runScenario } from '@antiphon/voice/testing';
import { describe, expect, test } from 'vitest';
import { tell } from '../src/commands/scenario.js';
import { createOutput } from '../src/output.js';
import { antiphon, temporaryFolder } from './run.js';

const folder = fileURLToPath(new URL('../scenarios', import.meta.url));
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const linesOf = (stdout: string) => stdout.trimEnd().split('\n');
const hello = { user: [{ speech: [500, 1500], text: 'Hello.' }], llm: [{ when: '*', text: 'Hi.' }], end: 5000 };

describe('the examples', () => {
  test('are named by --help, with their folder', async () => {
    const { stdout } = await antiphon(['scenario', '--help']);
    expect(stdout).toContain(folder);
    for (const name of readdirSync(folder)) expect(stdout).toContain(name);
    const { files } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8')) as { files: string[] };
    expect(files).toContain('scenarios');
  });

  test.each<[string, RegExp]>([
    [
      'barge-in.json',
      /speaker +paused\n[\s\S]*agent +takes it for an interruption\n[\s\S]*agent +said "Once upon [^"]*", then was cut off\n/,
    ],
    [
      'backchannel.json',
      /speaker +paused\n[\s\S]*takes it for a backchannel\n[\s\S]*speaker +goes on\n[\s\S]*takes it for a noise\n[\s\S]*ends after 9\.000 of 9\.000 s\n/,
    ],
    [
      'tool.json',
      /tool +timetable begins[^\n]*\n[\s\S]*speaker +hold sound begins\n[\s\S]*tool +timetable ends[^\n]*\n[\s\S]*speaker +hold sound ends\n/,
    ],
  ])('%s shows what its name says', async (name, story) => {
    const { code, stdout, stderr } = await antiphon(['scenario', join(folder, name)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(story);
    expect(stdout).toMatch(/\n\nNo law is broken\.\n$/);
  });
});

describe('output', () => {
  test('--json: the trace as JSON Lines, then the violations', async () => {
    const { code, stdout, stderr } = await antiphon(['scenario', join(folder, 'barge-in.json'), '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = linesOf(stdout).map(line => JSON.parse(line) as unknown);
    expect(lines.at(-1)).toEqual({ violations: [] });
    expect(lines.slice(0, -1)).toEqual(await runScenario(JSON.parse(read('barge-in.json'))));
  });

  test('a timeline has its columns below each other, and messages in full', async () => {
    const text = 'A long one. '.repeat(40).trim();
    const { stdout } = await antiphon(['scenario'], { stdin: JSON.stringify({ ...hello, llm: [{ when: '*', text }], end: 60_000 }) });
    const [title, , ...lines] = linesOf(stdout);
    expect(title).toBe('standard input');
    expect(lines.slice(0, -2).every(line => /^ {2}[ \d]\d\.\d{3} {2}\w+ +\S/.test(line))).toBe(true);
    expect(new Set(lines.slice(0, -2).map(line => /^ *\S+ +\S+ +/.exec(line)?.[0].length)).size).toBe(1);
    expect(stdout).toContain(`agent    said "${text}"`);
  });

  test('what a text holds cannot leave its line', async () => {
    const { stdout } = await antiphon(['scenario'], { stdin: JSON.stringify({ ...hello, user: [{ typed: 'a\nb\u001b[2J', at: 1 }] }) });
    expect(stdout).toContain('said "a\\nb\\u001b[2J"');
  });

  test.each([[[]], [['-']]])('standard input by %o', async args => {
    const { code, stdout } = await antiphon(['scenario', ...args, '--json'], { stdin: `\uFEFF${JSON.stringify(hello)}` });
    expect({ code, last: linesOf(stdout).at(-1) }).toEqual({ code: 0, last: '{"violations":[]}' });
  });

  test('--seed plays a conversation by chance, the same one each time', async () => {
    const { trace, violations } = await fuzz(42);
    const { stdout } = await antiphon(['scenario', '--seed', '42', '--json']);
    expect(linesOf(stdout).map(line => JSON.parse(line) as unknown)).toEqual([...trace, { violations }]);
    expect((await antiphon(['scenario', '--seed', '42'])).stdout).toMatch(/^seed 42\n/);
  });

  test('violations stand at the end, and the command fails', async () => {
    const trace = await runScenario(hello);
    const broken = { name: 'hello', trace, violations: [{ law: 8, t: 5000, message: '2 timers are left' }] };
    for (const [json, end] of [
      [false, /\n\nBroken laws:\n {2}5\.000 {2}law 8 {2}2 timers are left\n$/],
      [true, /\n\{"violations":\[\{"law":8,"t":5000,"message":"2 timers are left"\}\]\}\n$/],
    ] as const) {
      let written = '';
      const stdout = { write: (text: string) => (written += text) } as unknown as NodeJS.WritableStream;
      const output = createOutput(json, stdout as NodeJS.WriteStream);
      expect(() => tell(broken, { output })).toThrow('hello breaks the laws of a conversation once.');
      expect(written).toMatch(end);
    }
  });
});

describe('what cannot be played', () => {
  test.each<[string, number, RegExp]>([
    ['', 1, /^antiphon: talk\.json is no JSON: Unexpected end/],
    ['{"user": [}', 1, /^antiphon: talk\.json is no JSON: Unexpected token/],
    ['[]', 1, /^antiphon: talk\.json is no scenario: A scenario must be an object\./],
    ['{"users": []}', 1, /is no scenario: .*"users"/],
    ['{"user": [{"typed": "Hi", "at": 1}, {"hum": [1, 2]}]}', 1, /is no scenario: user\[1\]/],
    ['{"user": [{"typed": "Hi", "at": "soon!"}]}', 1, /is no scenario: user\[0\]: "soon!"/],
    ['{"llm": [{"text": "Hi."}]}', 1, /is no scenario: llm\[0\]\.when/],
    ['{"policy": {"endpoint": {"finishedMs": -1}}}', 1, /is no scenario: policy\.endpoint\.finishedMs/],
  ])('%s', async (content, exit, message) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'talk.json'), content);
    const { code, stdout, stderr } = await antiphon(['scenario', 'talk.json', '--json'], { cwd });
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(linesOf(stderr)).toHaveLength(1);
    expect(stderr).toMatch(message);
  });

  test.each<[readonly string[], number, RegExp]>([
    [['missing.json'], 1, /missing\.json cannot be read/],
    [['.'], 1, /\. cannot be read/],
    [['talk.json', '--seed', '1'], 2, /a file or --seed, not both/],
    [['--seed', 'x'], 2, /--seed takes a whole number/],
    [['--seed', '-1'], 2, /--seed/],
    [['--seed', '1.5'], 2, /--seed takes a whole number/],
    [['--seed', '4294967296'], 2, /--seed takes a whole number/],
    [['--seed'], 2, /antiphon --help/],
    [['a.json', 'b.json'], 2, /antiphon --help/],
  ])('%o', async (args, exit, message) => {
    const { code, stdout, stderr } = await antiphon(['scenario', ...args]);
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
    expect(stderr).toMatch(message);
  });
});
