// Joins each library's modules into a few files for Node: importing a hundred small ones costs more time than running them. Bundlers get the modules
// as they are (the `module` condition), since they can leave out single ones only. Types stay as they are, other packages and what is loaded on
// demand stay apart. Runs after the compiler; a tenth of a second.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Imports for side effects only. These packages have none (`sideEffects: false`), and bundlers warn of such imports. */
const BARE_IMPORT = /^import "\.[^"]*";\n/gm;

for (const name of ['engine', 'providers', 'voice']) {
  const dist = fileURLToPath(new URL(`../packages/${name}/dist/`, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: ['index.js', 'testing/index.js'].map(entry => `${dist}${entry}`).filter(existsSync),
    outdir: `${dist}bundle`,
    outbase: dist,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'neutral',
    external: ['node:*'],
    target: 'es2022',
    write: false,
    logLevel: 'error',
  });
  rmSync(`${dist}bundle`, { recursive: true, force: true });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replace(BARE_IMPORT, ''));
  }
}
