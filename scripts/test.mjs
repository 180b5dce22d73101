// Every test. Further arguments go to vitest: npm test -- packages/voice
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { antiphon, ensureBuilt, ensureInstalled, root } from './ensure.mjs';

ensureInstalled();
ensureBuilt();
// Tests that listen and speak need their models. Without a registry they skip and say so; CI must have them.
const pull = spawnSync(process.execPath, antiphon('models', 'pull', 'silero-vad-v6', 'moonshine-tiny-en-int8', 'flite', 'jfk-sample'), {
  stdio: ['ignore', 'ignore', 'inherit'],
});
if (pull.status !== 0 && process.env.CI) process.exit(1);
const folder = mkdtempSync(join(tmpdir(), 'antiphon-test-'));
const report = join(folder, 'report.json');
const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);
try {
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
} catch {
  console.error('vitest ended without a report.');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(status ?? 1);
