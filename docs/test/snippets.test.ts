import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createModelCache } from '@antiphon/speech';
import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';

// Documentation is executed: every `ts` block of the README and the guides runs as it stands, in a process of its own.
const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap(name =>
    name.endsWith('.md') ? [join('docs', name)] : [],
  ),
];

const snippets = pages.flatMap(page =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match, i) => ({
    name: `${page} #${i + 1}`,
    code: match[1] ?? '',
  })),
);

async function speechModelsAreHere(): Promise<boolean> {
  return (await createModelCache().list()).every(({ state }) => state === 'ready');
}

describe('snippets', () => {
  test.each(snippets)('$name runs', async ({ name, code }) => {
    if (code.includes('@antiphon/speech') && !(await speechModelsAreHere())) {
      console.warn(`SKIPPED ${name}: the speech models are not here (antiphon models pull).`);
      return;
    }
    const { code: javascript } = await transform(code, { loader: 'ts', format: 'esm', target: 'node20' });
    // Inside the checkout, so that packages are found by name.
    const folder = mkdtempSync(join(root, 'node_modules', '.snippet-'));
    try {
      writeFileSync(join(folder, 'snippet.mjs'), javascript);
      if (code.includes('question.wav')) {
        writeFileSync(join(folder, 'question.wav'), readFileSync(await createModelCache().path('jfk-sample', 'jfk.wav')));
      }
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', join(root, 'docs/test/fake-model.mjs'), 'snippet.mjs'], {
        cwd: folder,
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      // What a comment promises is what is printed.
      for (const [, promise] of code.matchAll(/console\.log\([^\n]*; \/\/ (.*)$/gm)) expect(stdout).toContain(promise);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('every command that the README names exists', () => {
    const named = new Set(
      [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/npx antiphon ([a-z]+)/g)].map(match => match[1] ?? ''),
    );
    const help = spawnSync(process.execPath, [join(root, 'packages/app/bin/antiphon.js'), '--help'], { encoding: 'utf8' }).stdout;
    for (const command of named) expect(help).toMatch(new RegExp(`^  ${command} `, 'm'));
  });
});
