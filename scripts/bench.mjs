// Measures, side by side with peers where there are any. Each bench runs in a process of its own, so that none warms up another.
// npm run bench            all of them
// npm run bench -- splitter
import { existsSync, readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { antiphon, ensureBuilt, ensureInstalled, root, run } from './ensure.mjs';

ensureInstalled();
ensureBuilt();
const all = readdirSync(`${root}bench`)
  .filter(name => name.endsWith('.mjs'))
  .map(name => name.slice(0, -4))
  .sort();
const wanted = process.argv.slice(2).length > 0 ? process.argv.slice(2) : all;
for (const name of wanted) {
  if (!existsSync(`${root}bench/${name}.mjs`)) {
    console.error(`There is no bench "${name}". There are: ${all.join(', ')}.`);
    process.exit(2);
  }
}
console.log(
  `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}. Times vary from run to run; compare within one run.`,
);
if (wanted.includes('speech')) run(process.execPath, antiphon('models', 'pull'), { stdio: ['ignore', 2, 2] });
for (const name of wanted) {
  console.log(`\n## ${name}\n`);
  run(process.execPath, [`bench/${name}.mjs`]);
}
