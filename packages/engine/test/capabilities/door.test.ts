// The capabilities are loaded when one of them is first used.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createEngine } from '@antiphon/engine';
import { scripted } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { engineOf, goodVerb, METHODS } from './methods.js';

describe('the door', () => {
  // First in this file: nothing is loaded yet. No virtual clock here, since it opens the door.
  test('aborts while it opens are honoured, and first calls may come together', async () => {
    const stop = new AbortController();
    const sent: unknown[] = [];
    const stopped = METHODS.map(method => method.call(engineOf(method, goodVerb(method, sent)), { signal: stop.signal }));
    stop.abort();
    const going = METHODS.map(method => method.call(engineOf(method, goodVerb(method))));
    for (const outcome of await Promise.all(stopped)) expect(outcome).toMatchObject({ status: 'interrupted', reason: 'aborted' });
    for (const outcome of await Promise.all(going)) expect(outcome.status).toBe('completed');
    expect(sent).toEqual([]);
  });

  test('an engine that chats has every method', async () => {
    const engine = createEngine({ chat: scripted(['Hi']) });
    for (const { name } of METHODS) expect(engine[name as 'embed']).toBeTypeOf('function');
  });

  test('what is imported with the engine holds no capability', () => {
    const bundle = new URL('../../dist/bundle/', import.meta.url);
    const read = (name: string) => readFileSync(fileURLToPath(new URL(name, bundle)), 'utf8');
    const seen = new Map<string, string>();
    const follow = (name: string) => {
      if (seen.has(name)) return;
      const text = read(name);
      seen.set(name, text);
      for (const [, next] of text.matchAll(/^(?:import|export)\b[^;]*?from "\.\/(.*?)";/gm)) follow(next as string);
    };
    follow('index.js');
    const loaded = [...seen.values()].join('\n');
    const lazy = /import\("\.\/(methods-.*?\.js)"\)/.exec(loaded)?.[1];
    expect(lazy && [...seen.keys()].includes(lazy)).toBe(false);
    for (const word of ['the answer has no list of embeddings', 'the answer has no audio part', 'middle of a sample'])
      expect(loaded).not.toContain(word);
  });
});
