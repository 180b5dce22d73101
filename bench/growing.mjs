// Reading JSON that grows, a tool call's arguments or a structured answer: seconds and memory by the number of deltas, side by side with
// other clients in one run, each in a fresh process. Slow ones are not asked for the most deltas, unless --all is given.
import { compare } from './clients/compare.mjs';
import { GROWING } from './clients/growing.mjs';
import { median, printTable } from './clients/table.mjs';

const COUNTS = [2000, 8000, 20_000];
const TITLES = { tool: 'tool arguments', output: 'structured output' };
/** Whoever took longer for 8,000 deltas takes very long for 20,000. */
const SLOW_SECONDS = 2;
const all = process.argv.includes('--all');
const RUNS = 3;

await compare(measure => {
  for (const [kind, clients] of Object.entries(GROWING)) {
    const rows = [];
    for (const name of Object.keys(clients)) {
      const results = resultsOf(count => measured(measure, kind, name, count));
      if (results.some(result => result)) rows.push(row(name, results));
    }
    const heads = COUNTS.map(count => count.toLocaleString('en'));
    printTable([
      [TITLES[kind], ...heads.map(head => `${head}, s`), 'ratio', ...heads.map(head => `${head}, MB`), 'fresh values per 100'],
      ...rows,
    ]);
  }
});
console.log(
  'ratio: 20,000 to 2,000 deltas, linear is 10. Fresh values: partial values that held more text than the one before, per 100 deltas.',
);

/** Of each count, as far as it makes sense. */
function resultsOf(measureCount) {
  const results = [];
  for (const count of COUNTS) {
    if (!all && count === COUNTS.at(-1) && results.at(-1)?.seconds > SLOW_SECONDS) break;
    results.push(measureCount(count));
  }
  return results;
}

/** The median of some runs, or the only one of a slow client. */
function measured(measure, kind, name, count) {
  const runs = [measure('growing', kind, name, count)];
  while (runs.length < RUNS && runs[0]?.seconds < SLOW_SECONDS) runs.push(measure('growing', kind, name, count));
  const seconds = median(runs.map(run => run?.seconds));
  return runs.find(run => run?.seconds === seconds);
}

function row(name, results) {
  const [few, , most] = results;
  const fresh = results.findLast(result => result).freshPerHundred;
  const cells = of => COUNTS.map((_, i) => (results[i] ? of(results[i]) : '–'));
  return [
    name,
    ...cells(({ seconds }) => seconds.toFixed(2)),
    few && most ? (most.seconds / few.seconds).toFixed(1) : '–',
    ...cells(({ peakMb }) => peakMb.toFixed(0)),
    fresh > 0 ? fresh.toFixed(1) : 'text only',
  ];
}
