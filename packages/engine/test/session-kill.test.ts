import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// `npm run kill -w packages/engine` does the same 200 times.
test('a process that is killed at any moment loses no result, and nothing takes effect twice', { timeout: 120_000 }, () => {
  const program = fileURLToPath(new URL('./kill/kill.mjs', import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [program, '20'], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({ kills: 20, lost: 0, repeated: 0, unanswered: 0, wrong: 0 });
});
