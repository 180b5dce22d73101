// Joins each library's modules into a few files: importing a hundred small ones costs more time than running them. Types stay as they are,
// other packages and what is loaded on demand stay apart. Runs after the compiler; a tenth of a second.
import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const LIBRARIES = ['engine', 'providers', 'voice'];

export async function bundle() {
  for (const name of LIBRARIES) {
    const dist = fileURLToPath(new URL(`../packages/${name}/dist/`, import.meta.url));
    const entryPoints = ['index.js', 'testing/index.js'].map(entry => `${dist}${entry}`).filter(existsSync);
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
      // Names of classes and functions are seen in errors.
      keepNames: true,
      logLevel: 'error',
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle();
