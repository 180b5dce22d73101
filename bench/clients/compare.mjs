// Runs measure.mjs in fresh processes, over one server in a process of its own. Installs the clients to compare with on first use.
import { fork, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TIMEOUT_MS = 180_000;
const here = name => fileURLToPath(new URL(name, import.meta.url));

function ensureClients() {
  if (existsSync(here('node_modules'))) return;
  console.error('Installing the clients to compare with …');
  // The newest ones ask for Node 22 and run on 20.
  const options = ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error', '--force'];
  const { status } = spawnSync('npm', options, { cwd: here('.'), stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (status !== 0) console.error('They could not be installed; only our own rows are shown.');
}

/** Calls `work` with a function that measures one client in a fresh process: undefined, and a note on stderr, when it did not run. */
export async function compare(work) {
  ensureClients();
  const server = fork(here('server.mjs'), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const port = await new Promise(resolve => server.stdout.once('data', data => resolve(String(data).trim())));
  try {
    await work((...args) => {
      const { stdout, stderr, status } = spawnSync(process.execPath, [here('measure.mjs'), port, ...args.map(String)], {
        encoding: 'utf8',
        timeout: TIMEOUT_MS,
      });
      if (status === 0) return JSON.parse(stdout);
      console.error(`${args.join(', ')} did not run and is left out. ${/^\w*Error.*$/m.exec(stderr)?.[0] ?? ''}`);
      return undefined;
    });
  } finally {
    server.disconnect();
  }
}
