import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';

/** A bundle for the browser, as people make one. */
async function bundle(contents: string) {
  const { outputFiles, errors, warnings } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    ...({ bundle: true, minify: true, format: 'esm', platform: 'browser', write: false, logLevel: 'silent' } as const),
  });
  return { text: outputFiles[0]?.text ?? '', problems: [...errors, ...warnings] };
}

describe('in a browser', () => {
  test.each(['openaiChat', 'openaiResponses', 'anthropic', 'gemini', 'openaiEmbeddings'])(
    '%s can be bundled, and brings no other adapter',
    async name => {
      const { text, problems } = await bundle(`export { ${name} } from '@antiphon/providers';`);
      expect(problems).toEqual([]);
      const marks = {
        anthropic: 'anthropic-version',
        gemini: 'streamGenerateContent',
        openaiResponses: 'response.output_item.added',
        voyage: 'api.voyageai.com',
      };
      for (const [owner, mark] of Object.entries(marks)) if (owner !== name) expect(text).not.toContain(mark);
    },
  );

  test('all of them together can be bundled', async () => {
    expect((await bundle("export * from '@antiphon/providers';")).problems).toEqual([]);
  });
});
