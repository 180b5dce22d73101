/** Bound for the growth of work on eight times the input: linear is 8, quadratic 64. */
export const LINEAR = 30;

/**
 * How many times more processor time the large input takes than the small one. Processor time, not the clock's, and the best of several
 * runs: other work on the machine must not decide. A quadratic algorithm has no good run.
 */
export async function smallestGrowth(small: () => unknown, large: () => unknown): Promise<number> {
  let [best, bestLarge] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < 6; attempt++) {
    best = Math.min(best, await processorMs(small), await processorMs(small));
    bestLarge = Math.min(bestLarge, await processorMs(large));
    if (attempt > 0 && bestLarge / Math.max(best, 0.5) < LINEAR) break;
  }
  return bestLarge / Math.max(best, 0.5);
}

async function processorMs(work: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
