import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { costOf, createEngine, systemClock } from '@antiphon/engine';
import { createRegistry, type Fetch, model, pricesOf, type RegistryData } from '@antiphon/providers';
import { afterAll, describe, expect, test } from 'vitest';
import { run } from './support/run.js';
import { END, sse, TEXT } from './support/wire.js';

const DATA: RegistryData = {
  date: '2030-01',
  models: {
    openai: {
      big: { can: ['tools'], context: 1000, price: { input: 1, output: 2 }, prompt: 'Be brief.', snapshots: ['big-2030-01-01'] },
      old: { can: [], deprecated: { note: 'to end in May', replacement: 'openai/big' } },
    },
    groq: { big: { can: [], price: { input: 3, output: 4 } }, small: { can: [], price: { input: 0, output: 0 } } },
  },
  aliases: { best: 'openai/big' },
};

/** Waits for nothing. */
const instant = { ...systemClock, setTimer: (_: number, fire: () => void) => systemClock.setTimer(0, fire) };

/** A server of the dialect, and what it was asked. */
function server() {
  const asked: { url: string; model: unknown; key: string | null }[] = [];
  const fetch: Fetch = async (url, init) => {
    asked.push({ url: String(url), model: JSON.parse(String(init?.body)).model, key: new Headers(init?.headers).get('authorization') });
    return new Response(sse([...TEXT, ...END]), { headers: { 'content-type': 'text/event-stream' } });
  };
  return { asked, fetch };
}

describe('model()', () => {
  test.each([
    ['groq/big', 'https://api.groq.com/openai/v1/chat/completions', 'big'],
    ['ollama/llama3.2', 'http://127.0.0.1:11434/v1/chat/completions', 'llama3.2'],
    ['openrouter/meta-llama/llama-3.1-8b', 'https://openrouter.ai/api/v1/chat/completions', 'meta-llama/llama-3.1-8b'],
    ['lmstudio/some-model', 'http://127.0.0.1:1234/v1/chat/completions', 'some-model'],
    ['google/gemini-x', undefined, 'gemini-x'],
  ])('%s', async (id, url, name) => {
    const { asked, fetch } = server();
    const adapter = createRegistry({ data: DATA }).model(id, { fetch, apiKey: 'key' });
    expect(adapter.model).toBe(name);
    if (url === undefined) return;
    expect((await run(adapter)).text).toBe('Good day');
    expect(asked).toMatchObject([{ url, model: name }]);
  });

  test('an alias is another name; a key is for its provider only', async () => {
    const { asked, fetch } = server();
    const registry = createRegistry({ data: DATA, keys: { groq: 'groq-key' } });
    expect(registry.info('best')).toMatchObject({ id: 'openai/big', known: true });
    await run(registry.model('groq/big', { fetch }));
    await run(registry.model('together/x', { fetch, apiKey: 'other' }));
    expect(asked.map(({ key }) => key)).toEqual(['Bearer groq-key', 'Bearer other']);
  });

  test.each([
    ['groq/new', 'has no facts about groq/new'],
    ['groq/small', undefined],
    ['ollama/anything', undefined],
  ])('%s warns once: %s', async (id, words) => {
    const { fetch } = server();
    const adapter = createRegistry({ data: DATA }).model(id, { fetch, apiKey: 'key' });
    const [first, second] = [await run(adapter), await run(adapter)];
    expect(first.warnings.map(({ message }) => message)).toEqual(words === undefined ? [] : [expect.stringContaining(words)]);
    expect([second.warnings, first.text, second.text]).toEqual([[], 'Good day', 'Good day']);
  });

  test('a try that failed does not use the warning up', async () => {
    const { fetch } = server();
    let tries = 0;
    const failing: Fetch = (url, init) => (tries++ % 2 === 0 ? Promise.resolve(new Response('busy', { status: 503 })) : fetch(url, init));
    const engine = createEngine({
      chat: createRegistry({ data: DATA }).model('groq/new', { fetch: failing, apiKey: 'key' }),
      clock: instant,
    });
    const [first, second] = [await engine.chat('Hi'), await engine.chat('Hi')];
    expect([first.text, first.warnings.map(({ message }) => message)]).toEqual([
      'Good day',
      [expect.stringContaining('no facts about groq/new')],
    ]);
    expect([second.text, second.warnings]).toEqual(['Good day', []]);
  });

  test('a name that is wrong is warned of beside the error', async () => {
    const fetch: Fetch = async () => new Response('{"error":{"message":"no such model"}}', { status: 404 });
    const chat = createRegistry({ data: DATA }).model('groq/new', { fetch, apiKey: 'key' });
    for (const { status, warnings } of [await createEngine({ chat }).chat('Hi'), await createEngine({ chat }).chat('Hi')])
      expect([status, warnings.map(({ message }) => message)]).toEqual(['failed', [expect.stringContaining('is its name right?')]]);
  });

  test('a model that is about to end says what to use', async () => {
    const { fetch } = server();
    const { warnings } = await run(createRegistry({ data: DATA }).model('openai/old', { fetch, apiKey: 'key' }));
    expect(warnings[0]?.message).toBe('openai/old is to end in May. Use openai/big.');
  });

  test.each(['gpt-5.1', '', '/x', 'openai/', 'constructor', 'nobody/x', '__proto__/x', 'azure/x'])('%j is refused', id => {
    expect(() => model(id)).toThrow(expect.objectContaining({ name: 'ConfigurationError', reason: 'invalid_option' }));
  });

  test('a file is a model too, and is closed like one', async () => {
    const adapter = model('gguf//models/tiny.gguf');
    expect([adapter.provider, adapter.model]).toEqual(['llama-cpp', 'tiny']);
    await (adapter as ReturnType<typeof import('@antiphon/providers').llamaCpp>).close();
  });
});

describe('facts', () => {
  test('are those of the vendor, whichever of its protocols is spoken', async () => {
    const registry = createRegistry({ data: DATA, keys: { openai: 'openai-key' } });
    expect(registry.info('openai-responses/big')).toMatchObject({
      known: true,
      context: 1000,
      prompt: 'Be brief.',
      provider: 'openai-responses',
    });
    expect(registry.pricesOf('openai-responses').big).toEqual({ input: 1, output: 2 });
    const { asked, fetch } = server();
    const { warnings } = await run(registry.model('openai-responses/big', { fetch }));
    expect([asked.map(({ key }) => key), warnings.filter(({ setting }) => setting === 'model')]).toEqual([['Bearer openai-key'], []]);
  });

  test('a fixed version has the facts of its model', () => {
    expect(createRegistry({ data: DATA }).info('openai/big-2030-01-01')).toMatchObject({
      known: true,
      context: 1000,
      model: 'big-2030-01-01',
    });
    expect(createRegistry({ data: DATA }).info('openai/constructor')).toEqual({
      id: 'openai/constructor',
      provider: 'openai',
      model: 'constructor',
      known: false,
    });
  });

  test('prices of one provider, or of all that agree', () => {
    const registry = createRegistry({ data: DATA });
    expect(Object.keys(registry.pricesOf())).toEqual(['big-2030-01-01', 'small']);
    expect(registry.pricesOf('groq').big).toEqual({ input: 3, output: 4 });
    expect(registry.pricesOf('nobody')).toEqual({});
  });

  test('the package comes with facts that hang together', () => {
    const registry = createRegistry();
    const all = registry.list();
    expect(all.length).toBeGreaterThanOrEqual(40);
    for (const { id, context = Number.POSITIVE_INFINITY, output = 0, price, deprecated } of all) {
      expect(output, id).toBeLessThanOrEqual(context);
      if (price) expect(price.cachedInput ?? price.input, id).toBeLessThanOrEqual(price.input);
      if (deprecated?.replacement) expect(registry.info(deprecated.replacement).known, id).toBe(true);
      expect(() => registry.model(id, { apiKey: 'key' }), id).not.toThrow();
    }
    expect(costOf({ inputTokens: 1_000_000, outputTokens: 0 }, pricesOf('openai')['gpt-5.1']!)?.total).toBe(1.25);
  });
});

describe('scripts/update-registry.mjs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'antiphon-registry-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const script = fileURLToPath(new URL('../../../scripts/update-registry.mjs', import.meta.url));
  const update = (source: object, ...args: string[]) => {
    const [from, out] = [join(folder, 'source.json'), join(folder, 'data.ts')];
    writeFileSync(from, JSON.stringify(source));
    const { status, stderr } = spawnSync(process.execPath, [script, from, '--date', '2031-02', '--out', out, ...args], {
      encoding: 'utf8',
    });
    if (status !== 0) return { status, stderr, data: '' };
    return { status, stderr, data: readFileSync(out, 'utf8').replaceAll("'", '').replaceAll('"', '').replace(/\s+/g, '') };
  };

  test('takes models.dev', () => {
    const model = {
      tool_call: true,
      modalities: { input: ['text', 'image'] },
      limit: { context: 7000, output: 70 },
      cost: { input: 0.5, output: 1, cache_read: 0.1 },
    };
    const { status, data } = update(
      { openai: { id: 'openai', models: { 'gpt-5.1': model } }, moonshotai: { models: { k9: model } } },
      '--add',
      'moonshot/k9',
    );
    expect(status).toBe(0);
    expect(data).toContain('date:2031-02');
    expect(data).toContain(
      'gpt-5.1:{can:[tools,vision,structured,reasoning],context:7000,output:70,price:{input:0.5,output:1,cachedInput:0.1}',
    );
    expect(data).toContain('k9:{can:[tools,vision]');
  });

  test('takes LiteLLM', () => {
    const about = {
      litellm_provider: 'gemini',
      mode: 'chat',
      max_input_tokens: 9000,
      input_cost_per_token: 3e-7,
      output_cost_per_token: 2.5e-6,
      supports_vision: true,
    };
    const { data } = update({ 'gemini/gemini-2.5-flash': about, sample_spec: { mode: 'chat' } });
    expect(data).toContain(
      'gemini-2.5-flash:{can:[tools,vision,audio,structured,reasoning],context:9000,output:65536,price:{input:0.3,output:2.5}}',
    );
  });

  test('keeps what the source is silent about, and drops what it denies', () => {
    const model = { structured_output: false, limit: {} };
    const { data } = update({ anthropic: { models: { 'claude-sonnet-4-5': model } } }, '--add', 'anthropic/claude-sonnet-4-5');
    expect(data).toContain('claude-sonnet-4-5:{can:[tools,vision,reasoning],context:200000,output:64000,price:{input:3,');
    expect(data).toContain('snapshots:[claude-sonnet-4-5-20250929]');
  });

  test('refuses what it does not know', () => {
    expect(update({ hello: 'world' })).toMatchObject({ status: 1, stderr: expect.stringContaining('no models in a shape') });
  });
});
