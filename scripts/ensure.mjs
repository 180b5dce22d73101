// Installs and builds what is missing, so that two commands do everything on a fresh machine. Needs nothing but Node and npm.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const marker = `${root}node_modules/.antiphon-installed`;

/** Runs a command in the project folder with its output shown; ends this process when it fails. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32', ...options });
  if (error) console.error(`${command}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

export function ensureInstalled() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    console.error(`Antiphon needs Node 20 or newer, and this is ${process.versions.node}.`);
    process.exit(1);
  }
  const lock = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return;
  console.error('Installing dependencies …');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: ['ignore', 2, 2] });
  writeFileSync(marker, lock);
}

export function ensureBuilt() {
  run(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-b', 'packages/app'], { stdio: ['ignore', 2, 2] });
  run(process.execPath, [`${root}scripts/bundle.mjs`], { stdio: ['ignore', 2, 2] });
}

/** Node arguments for the `antiphon` command of this checkout. */
export const antiphon = (...args) => [`${root}packages/app/bin/antiphon.js`, ...args];
