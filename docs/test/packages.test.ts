// What somebody gets who installs the packages.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const ROOMS = ['engine', 'providers', 'voice', 'speech', 'app'];
const ENTRIES = ['engine', 'engine/testing', 'providers', 'voice', 'voice/testing', 'speech'].map(entry => `@antiphon/${entry}`);

test.each(ROOMS)('%s is packed with its licence and its entries, and without what only its makers need', async room => {
  const cwd = join(root, 'packages', room);
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd });
  const files = (JSON.parse(stdout) as { files: { path: string }[] }[])[0]!.files.map(({ path }) => path);
  const { exports = {}, bin = {} } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'));
  const entries = [...Object.values(exports as Record<string, Record<string, string>>).flatMap(entry => Object.values(entry))];
  const wanted = [...entries, ...Object.values(bin as Record<string, string>)].map(path => path.replace('./', ''));
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'package.json', ...wanted]));
  expect(files.filter(path => /\.map$|\.tsbuildinfo$|(^|\/)(src|test)\//.test(path))).toEqual([]);
});

test.each(ENTRIES)('%s is found by import and by require', entry => {
  expect(createRequire(import.meta.url).resolve(entry)).toBe(fileURLToPath(import.meta.resolve(entry)));
});

test.each([
  ['NodeNext', 'NodeNext'],
  ['ESNext', 'Bundler'],
])(
  'their types are whole in a strict project that checks them: %s',
  async (module, moduleResolution) => {
    const folder = mkdtempSync(join(root, 'docs/test/consumer-'));
    try {
      const compilerOptions = { module, moduleResolution, target: 'ES2022', lib: ['ES2022', 'DOM'], types: [], strict: true, noEmit: true };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.mts'] }));
      writeFileSync(join(folder, 'index.mts'), ENTRIES.map((entry, i) => `export * as e${i} from '${entry}';\n`).join(''));
      const { stdout } = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]).catch(error => error);
      expect(stdout).toBe('');
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  60_000,
);
