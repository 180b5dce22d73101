import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';

/** A bundle for the browser, as people make one. */
async function bundle(contents: string) {
  const { outputFiles, errors, warnings } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    ...({ bundle: true, format: 'esm', platform: 'browser', write: false, logLevel: 'silent' } as const),
  });
  return { text: outputFiles[0]?.text ?? '', problems: [...errors, ...warnings] };
}

describe('in a browser', () => {
  test('sessions can be bundled, and bring no files with them', async () => {
    const { text, problems } = await bundle(
      "import { createEngine, createSession, memoryStore } from '@antiphon/engine'; window.x = [createEngine, createSession, memoryStore];",
    );
    expect(problems).toEqual([]);
    expect(text).not.toContain('node:');
  });

  test('the file store can be bundled, and says what it needs when it is used', async () => {
    const { text, problems } = await bundle("export { fileStore } from '@antiphon/engine';");
    expect(problems).toEqual([]);
    // The same code where Node's modules cannot be loaded.
    const code = text.replaceAll('"node:', '"nowhere:');
    const { fileStore } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    await expect(fileStore('./x').load('a')).rejects.toMatchObject({ reason: 'io', message: expect.stringContaining('memoryStore()') });
  });
});
