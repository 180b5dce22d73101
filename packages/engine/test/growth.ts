/** How often work is measured; the least of several is what the machine's other work disturbs least. */
const TRIES = 5;

/** Milliseconds of CPU that `work` takes, at the least of several tries. */
function leastCpu(work: () => void, tries = TRIES): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries; i++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** How much longer `work(large)` takes than `work(small)`; a time of less than a millisecond counts as one. Measured again while above `limit`. */
export function growth(work: (size: number) => void, small: number, large: number, limit: number): number {
  work(small);
  let ratio = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 4 && ratio > limit; attempt++) {
    ratio =
      leastCpu(() => work(large), 3) /
      Math.max(
        1,
        leastCpu(() => work(small)),
      );
  }
  return ratio;
}
