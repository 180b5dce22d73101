import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine, createSession } from '@antiphon/engine';
import { virtualClock } from '@antiphon/engine/testing';
import { describe, expect, test } from 'vitest';
import { indexDocuments } from '../src/demo/documents.js';
import { demoResponder } from '../src/demo/responder.js';
import { demoTools } from '../src/demo/tools.js';
import { GUIDE } from '../src/model-choice.js';
import { temporaryFolder } from './run.js';

async function ask(question: string, folder = GUIDE): Promise<string> {
  const clock = virtualClock(Date.UTC(2026, 0, 5, 15, 7));
  const engine = createEngine({ chat: demoResponder(await indexDocuments(folder)), tools: demoTools({ clock, timeZone: 'UTC' }) });
  const outcome = await createSession({ engine }).send(question);
  expect(outcome.status).toBe('completed');
  return outcome.text;
}

describe('the demo responder', () => {
  test.each([
    ['How do you know that I have finished speaking?', /silence of three tenths of a second/],
    ['how can I interrupt the agent', /Just start speaking/],
    ['Which local model server does it look for?', /Ollama/],
    ['What does the name mean?', /call and response/],
    ['What is 2 plus 2?', /^The result is 4\.$/],
    ['What is 1 divided by 0?', /no finite result/],
    ['What time is it?', /^It is 3:07 PM on Monday, January 5\.$/],
    ['Who won the battle of Waterloo?', /found nothing about that.*no language model/],
    ['', /found nothing/],
  ])('%s', async (question, answer) => {
    expect(await ask(question)).toMatch(answer);
  });

  test('answers the same every time', async () => {
    expect(await ask('What runs on this machine?')).toBe(await ask('What runs on this machine?'));
  });

  test('knows the documents of any folder, below it too', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'deep'));
    writeFileSync(join(folder, 'deep', 'bees.txt'), 'A honey bee visits two million flowers for one pound of honey.');
    expect(await ask('How many flowers does a bee visit?', folder)).toMatch(/two million flowers/);
  });

  test('says what is wrong with a folder', async () => {
    await expect(indexDocuments(temporaryFolder())).rejects.toThrow(/holds no .md or .txt file/);
    await expect(indexDocuments('/no/such/folder')).rejects.toThrow(/cannot be read/);
  });
});
