import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileStore, memoryStore } from '@antiphon/engine';
import { storeConformance } from '@antiphon/engine/testing';
import { afterAll, describe, expect, test } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'antiphon-store-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('memoryStore', () => {
  test.each(storeConformance(memoryStore).map(({ name, run }) => [name, run] as const))('%s', async (_, run) => run());
});

describe('fileStore', () => {
  let folder = '';
  const cases = storeConformance(
    () => {
      folder = mkdtempSync(join(root, 'kit-'));
      return fileStore(folder);
    },
    { reopen: () => fileStore(folder) },
  );
  test.each(cases.map(({ name, run }) => [name, run] as const))('%s', async (_, run) => run());
});

test('the kit finds a store that forgets', async () => {
  const kit = storeConformance(() => ({ ...memoryStore(), append: async () => {} }));
  const failed = await Promise.all(
    kit.map(({ run }) =>
      run().then(
        () => 0,
        () => 1,
      ),
    ),
  );
  expect(failed.reduce<number>((sum, one) => sum + one, 0)).toBeGreaterThan(5);
});
