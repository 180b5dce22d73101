// The clients to compare with: a folder of their own with a lock file of its own, installed on first use.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where they are resolved from. */
export const CLIENTS_DIR = fileURLToPath(new URL('.', import.meta.url));

/** True when they are there, perhaps just now; otherwise stderr says so. */
export function ensureClients() {
  if (existsSync(`${CLIENTS_DIR}node_modules`)) return true;
  console.error('Installing the clients to compare with …');
  // The newest ones ask for Node 22 and run on 20.
  const options = ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error', '--force'];
  const { status } = spawnSync('npm', options, { cwd: CLIENTS_DIR, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (status !== 0) console.error('They could not be installed; only our own rows are shown.');
  return status === 0;
}
