#!/usr/bin/env node
// Starts the built command. In a checkout that was never built there is nothing to start, so it says how.
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) {
  console.error('antiphon: not built yet. Run `npm start` (or `npm run build`) in the project folder first.');
  process.exit(1);
}
const { run } = await import(main.href);
process.exitCode = await run(process.argv.slice(2));
