import { defineConfig } from 'vitest/config';

// Tests import the packages by name, so they run what users run: the built output. `npm test` builds first.
export default defineConfig({
  // The files for Node, not those for bundlers.
  ssr: { resolve: { conditions: ['node', 'import', 'default'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'docs/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
