import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWav } from '@antiphon/speech';
import { describe, expect, test } from 'vitest';
import { answering, antiphon, type Ran, serve, temporaryFolder } from './run.js';

/** A failure is one line on stderr that says what to do, and nothing on stdout. */
function expectFailure({ code, stdout, stderr }: Ran, exit: number, message: RegExp): void {
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
  const lines = stderr.trim().split('\n');
  expect(lines.at(-1)).toMatch(message);
  expect(stderr).not.toMatch(/\n\s+at /);
}

describe('usage', () => {
  test.each([
    [['--help'], /Examples:[\s\S]*Exit codes/],
    [['selftest', '--help'], /--out <file>/],
    [['help'], /Usage: antiphon/],
  ])('%o explains itself', async (args, text) => {
    const { code, stdout } = await antiphon(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(text);
  });

  test.each([
    [['--no-such-flag'], /antiphon --help/],
    [['selftest', '--no-such-flag'], /antiphon --help/],
    [['no-such-command'], /antiphon --help/],
    [['say'], /antiphon --help/],
    [['say', '  '], /say needs a text/],
    [['split', '--chunk', '0'], /--chunk takes a whole number/],
    [['split', '--chunk', 'x'], /--chunk takes a whole number/],
    [['chat', '--model', 'demo', '--documents', '/no/such/folder'], /documents folder cannot be read/],
  ])('%o is wrong usage', async (args, message) => {
    expectFailure(await antiphon(args), 2, message);
  });
});

describe('split', () => {
  test('prints clauses with their places as one JSON value', async () => {
    const { code, stdout, stderr } = await antiphon(['split', '--json'], { stdin: 'Dr. Lee paid $3.50. Then he left.' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual([
      { text: 'Dr. Lee paid $3.50.', start: 0, end: 19, kind: 'sentence' },
      { text: ' Then he left.', start: 19, end: 33, kind: 'sentence' },
    ]);
  });

  test.each(['1', '2', '7', '100000'])('is the same when %s characters come at a time', async chunk => {
    const text = 'First, see https://a.example/x. 👨‍👩‍👧 Then pay 3.14 to Dr. Who.\n- one\n- two';
    const whole = await antiphon(['split', '--json', '--chunk', '1000000'], { stdin: text });
    const pieces = await antiphon(['split', '--json', '--chunk', chunk], { stdin: text });
    expect(pieces.stdout).toBe(whole.stdout);
  });

  test('reads a file, takes a locale, and an empty input has no clauses', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'de.txt'), 'Heute ist der 3. Juli 2026. Es regnet.');
    const { stdout } = await antiphon(['--locale', 'de', 'split', 'de.txt', '--json'], { cwd: folder });
    expect(JSON.parse(stdout).length).toBe(2);
    expect((await antiphon(['split', '--json'], { stdin: '' })).stdout).toBe('[]\n');
    expectFailure(await antiphon(['split', 'missing.txt']), 1, /missing\.txt cannot be read/);
  });
});

describe('chat', () => {
  const demo = ['chat', '--model', 'demo'];

  test('answers each line and ends at /quit, with exit code 0', async () => {
    const { code, stdout, stderr } = await antiphon(demo, { stdin: 'What is 2 plus 3?\n\n/quit\nnever read\n' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'The result is 5.\n' });
    expect(stderr).toMatch(/no language model/);
  });

  test('ends when standard input is closed', async () => {
    expect((await antiphon(demo)).code).toBe(0);
    expect((await antiphon(demo, { stdin: '' })).code).toBe(0);
    expect(await antiphon(demo, { stdin: 'What is 1 plus 1?' })).toMatchObject({ code: 0, stdout: 'The result is 2.\n' });
  });

  test('--json prints the events as JSON Lines and nothing else', async () => {
    const { stdout } = await antiphon([...demo, '--json'], { stdin: 'What is 2 plus 3?\n' });
    const events = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { type: string });
    expect(events[0]?.type).toBe('message_start');
    expect(events.at(-1)?.type).toBe('end');
  });

  test('streams from a model server', async () => {
    const baseUrl = await serve(answering('Hello from a server.'));
    const { code, stdout } = await antiphon(['chat', '--base-url', baseUrl], { stdin: 'Hi\n' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hello from a server.\n' });
  });

  test('a server that is down: says so, goes on, and ends with 1', async () => {
    const baseUrl = await serve(answering('x'));
    const closed = baseUrl.replace(/:\d+/, ':1');
    const { code, stdout, stderr } = await antiphon(['chat', '--base-url', closed, '--model', 'm'], { stdin: 'Hi\n' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^antiphon: .*127\.0\.0\.1/);
  });

  test('a wrong key: names it, and never prints it', async () => {
    const key = 'sk-very-secret-0123456789abcdef';
    const baseUrl = await serve((request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${request.headers.authorization}` } }));
    });
    const ran = await antiphon(['chat', '--base-url', baseUrl, '--model', 'm'], { stdin: 'Hi\n', env: { ANTIPHON_API_KEY: key } });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/[Kk]ey/);
    expect(ran.stderr + ran.stdout).not.toContain(key);
  });

  test('Ctrl-C ends it with 130', async () => {
    const baseUrl = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': waiting\n\n');
    });
    const ran = await antiphon(['chat', '--base-url', baseUrl, '--model', 'm'], { stdin: 'Hi\n', interruptAfter: /\/quit ends/ });
    expect(ran.code).toBe(130);
  });
});

describe('configuration', () => {
  test('flags win over the environment, the environment over the file', async () => {
    const folder = temporaryFolder();
    const [file, env, flag] = await Promise.all(['file', 'environment', 'flag'].map(text => serve(answering(text))));
    writeFileSync(join(folder, 'antiphon.config.json'), JSON.stringify({ baseUrl: file }));
    const ask = (args: string[], variables: Record<string, string>) =>
      antiphon(['chat', ...args], { stdin: 'Hi\n', cwd: folder, env: variables });
    expect((await ask([], {})).stdout).toBe('file\n');
    expect((await ask([], { ANTIPHON_BASE_URL: env ?? '' })).stdout).toBe('environment\n');
    expect((await ask(['--base-url', flag ?? ''], { ANTIPHON_BASE_URL: env ?? '' })).stdout).toBe('flag\n');
  });

  test.each([
    ['antiphon.config.ts', 'const model: string = "demo";\nexport default { model };'],
    ['antiphon.config.js', 'export default { model: "demo" };'],
    ['antiphon.config.json', '{ "model": "demo" }'],
  ])('%s is read', async (name, content) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), content);
    const { stdout } = await antiphon(['doctor', '--json'], { cwd: folder });
    const { checks } = JSON.parse(stdout) as { checks: { what: string; found: string }[] };
    expect(checks.find(check => check.what === 'configuration')?.found).toBe(name);
    expect(checks.find(check => check.what === 'who answers')?.found).toMatch(/the configuration asks for it/);
  });

  test.each([
    ['{ "modle": "x" }', /"modle" is not known/],
    ['{ "model": 1 }', /"model" must be text/],
    ['[1', /cannot be read/],
    ['null', /must hold an object/],
  ])('a file with %s is refused', async (content, message) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'antiphon.config.json'), content);
    expectFailure(await antiphon(['doctor'], { cwd: folder }), 2, message);
  });
});

describe('doctor and models', () => {
  test('doctor says what is missing and what to do', async () => {
    const { code, stdout } = await antiphon(['doctor'], { env: { ANTIPHON_MODELS: temporaryFolder() } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/✗ {2}model flite +missing/);
    expect(stdout).toMatch(/Next:[\s\S]*antiphon models pull flite/);
  });

  test('models lists names, sizes and licences', async () => {
    const { stdout } = await antiphon(['models', 'list', '--json'], { env: { ANTIPHON_MODELS: temporaryFolder() } });
    const { models } = JSON.parse(stdout) as { models: { name: string; state: string; licence: string }[] };
    expect(models.map(model => model.name)).toContain('moonshine-tiny-en-int8');
    expect(models.every(model => model.state === 'missing' && model.licence !== '')).toBe(true);
  });

  test('an unknown model is named, with those that exist', async () => {
    expectFailure(await antiphon(['models', 'pull', 'nope']), 1, /nope/);
  });

  test('a missing model names the command that mends it', async () => {
    expectFailure(await antiphon(['say', 'Hello.'], { env: { ANTIPHON_MODELS: temporaryFolder() } }), 1, /antiphon models pull flite/);
  });
});

describe('files that are no recordings', () => {
  const silence = writeWav({ samples: new Float32Array(16_000), sampleRate: 16_000 });
  test.each<[string, Uint8Array | string, RegExp]>([
    ['text', 'this is no wave', /WAV/],
    ['nothing', '', /empty|WAV/i],
    ['a header and no sound', silence.slice(0, 44), /no (?:audio|sound|samples)|empty|holds no/i],
  ])('%s', async (_, content, message) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'in.wav'), content);
    expectFailure(await antiphon(['transcribe', 'in.wav'], { cwd: folder }), 1, message);
  });

  test('no file', async () => {
    expectFailure(await antiphon(['transcribe', 'missing.wav']), 1, /missing\.wav/);
  });
});
