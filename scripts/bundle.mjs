// Joins each library's modules into a few files: importing a hundred small ones costs more time than running them. Types stay as they are,
// other packages and what is loaded on demand stay apart. Runs after the compiler; a tenth of a second.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Whether what the index names stays in files of its own: adapters know nothing of each other, and who uses one must not carry the others. */
const LIBRARIES = { engine: { apart: false }, providers: { apart: true }, voice: { apart: false } };

/** Imports for side effects only. These packages have none (`sideEffects: false`), and bundlers warn of such imports. */
const BARE_IMPORT = /^import "\.[^"]*";\n/gm;

for (const [name, { apart }] of Object.entries(LIBRARIES)) {
  const dist = fileURLToPath(new URL(`../packages/${name}/dist/`, import.meta.url));
  const index = readFileSync(`${dist}index.js`, 'utf8');
  const entries = apart ? [...index.matchAll(/from '\.\/(.*?)'/g)].map(([, file]) => file) : ['index.js', 'testing/index.js'];
  const { outputFiles } = await build({
    entryPoints: entries.map(entry => `${dist}${entry}`).filter(existsSync),
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
  if (apart) copyFileSync(`${dist}index.js`, `${dist}bundle/index.js`);
}
