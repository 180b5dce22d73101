// Runs measure.mjs in fresh processes, over one server in a process of its own.
import { fork, spawnSync } from 'node:child_process';
import { CLIENTS_DIR, ensureClients } from './ensure.mjs';

const TIMEOUT_MS = 180_000;
const here = name => `${CLIENTS_DIR}${name}`;

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
