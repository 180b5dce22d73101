import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../peers/llama-cpp/', import.meta.url));
const ENTRY = `${FOLDER}node_modules/node-llama-cpp/dist/index.js`;

/**
 * Installs node-llama-cpp beside the workspace once (about 83 MB), and gives the way to load it. Undefined, with the reason on the console,
 * where it cannot be installed; in CI that is a failure.
 */
export function llamaPeer(): { readonly entry: string; load(): Promise<unknown> } | undefined {
  if (!existsSync(ENTRY)) {
    const machine = `${process.platform}-${process.arch}`;
    if (machine !== 'linux-x64') return missing(`the tests' copy of node-llama-cpp is for linux-x64, and this is ${machine}`);
    const args = ['ci', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status, stderr } = spawnSync('npm', args, { cwd: FOLDER, encoding: 'utf8' });
    if (status !== 0) return missing(`npm ci failed in ${FOLDER}: ${stderr}`);
  }
  return { entry: ENTRY, load: () => import(pathToFileURL(ENTRY).href) };
}

function missing(why: string): undefined {
  if (process.env.CI) throw new Error(`node-llama-cpp is needed in CI: ${why}`);
  console.warn(`SKIPPED: llamaCpp is not tested with a model, because ${why}`);
}
