// Joins each library's modules into a few files: importing a hundred small ones costs more time than running them. Types stay as they are,
// other packages and what is loaded on demand stay apart. Runs after the compiler; a tenth of a second.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Whether what the index names stays in files of its own: adapters know nothing of each other, and who uses one must not carry the others. */
const LIBRARIES = { engine: { apart: false }, providers: { apart: true }, voice: { apart: false } };

async function bundle() {
  for (const [name, { apart }] of Object.entries(LIBRARIES)) {
    const dist = fileURLToPath(new URL(`../packages/${name}/dist/`, import.meta.url));
    const entryPoints = ['index.js', 'testing/index.js'].map(entry => `${dist}${entry}`).filter(existsSync);
    if (apart) {
      const index = readFileSync(`${dist}index.js`, 'utf8');
      entryPoints.push(...[...index.matchAll(/from '\.\/(.*?)'/g)].map(([, file]) => `${dist}${file}`));
    }
    rmSync(`${dist}bundle`, { recursive: true, force: true });
    await build({
      entryPoints,
      outdir: `${dist}bundle`,
      outbase: dist,
      bundle: true,
      splitting: true,
      packages: 'external',
      format: 'esm',
      platform: 'neutral',
      external: ['node:*'],
      target: 'es2022',
      sourcemap: true,
      logLevel: 'error',
    });
  }
}

await bundle();
