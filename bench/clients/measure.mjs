// Measures one client in this process and prints a line of JSON: node measure.mjs PORT text NAME, or PORT growing KIND NAME COUNT.
import { isDeepStrictEqual } from 'node:util';
import { growingDocument, micros } from './agreed.mjs';
import { median } from './table.mjs';

const CHUNKS = 20_000;
const PACED = 400;
const PACED_ANSWERS = 5;
const FIRST_TOKENS = 21;
const [port, task, ...args] = process.argv.slice(2);
const url = (kind, count) => `http://127.0.0.1:${port}/${kind}/${count}/v1`;
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const peakMb = () => process.resourceUsage().maxRSS / 1024;

async function timed(work) {
  const [cpu, wall] = [cpuMs(), performance.now()];
  const value = await work();
  return { value, cpuMs: cpuMs() - cpu, wallMs: performance.now() - wall };
}

async function text(name) {
  const { CLIENTS } = await import('./text.mjs');
  const { value: read, wallMs: loadMs } = await timed(CLIENTS[name]);
  const run = async () => {
    let length = 0;
    const times = await timed(() => read(url('text', CHUNKS), piece => (length += piece.length)));
    if (length !== CHUNKS * 5) throw new Error(`${name} got ${length} characters of ${CHUNKS * 5}`);
    return times;
  };
  const cold = await run();
  const warm = [await run(), await run(), await run()].sort((a, b) => a.cpuMs - b.cpuMs)[1];
  const many = await timed(() => Promise.all(Array.from({ length: 100 }, () => read(url('text', 200), () => {}))));
  const peak = peakMb();
  const late = await latency(read);
  return {
    ...{ name, loadMs, coldCpuUs: (cold.cpuMs * 1000) / CHUNKS, warmCpuUs: (warm.cpuMs * 1000) / CHUNKS },
    ...{ chunksPerSecond: CHUNKS / (warm.wallMs / 1000), concurrentMs: many.wallMs, peakMb: peak },
    ...{ lateP50Ms: late.p50, lateP99Ms: late.p99, firstMs: await firstToken(read) },
  };
}

/** How long after it was sent each piece of a slow answer is told, in the calmest of some answers: others use the machine too. */
async function latency(read) {
  const answers = [];
  for (let i = 0; i < PACED_ANSWERS; i++) {
    const late = [];
    await read(url('paced', PACED), piece => {
      const now = micros();
      for (const sent of piece.split(' ')) if (sent !== '') late.push((now - Number(sent)) / 1000);
    });
    if (late.length !== PACED) throw new Error(`${late.length} of ${PACED} pieces came`);
    late.sort((a, b) => a - b);
    answers.push({ p50: late[PACED * 0.5], p99: late[PACED * 0.99] });
  }
  return answers.sort((a, b) => a.p99 - b.p99)[0];
}

/** From the call to the first text, the connection being open. */
async function firstToken(read) {
  const times = [];
  for (let i = 0; i < FIRST_TOKENS; i++) {
    const began = performance.now();
    let first;
    await read(url('text', 16), piece => {
      if (piece !== '') first ??= performance.now() - began;
    });
    times.push(first);
  }
  return median(times);
}

async function growing(kind, name, count) {
  const { GROWING } = await import('./growing.mjs');
  const read = await GROWING[kind][name]();
  let [seen, fresh] = [0, 0];
  const told = partial => {
    // Touches the newest there is; counts when it has become more.
    const items = partial?.items ?? [];
    const now = items.length * 1000 + (items.at(-1)?.name?.length ?? 0);
    if (now > seen) fresh++;
    seen = now;
  };
  const { value, wallMs } = await timed(() => read(url(kind, count), told));
  const peak = peakMb();
  if (!isDeepStrictEqual(value, growingDocument(Number(count)))) throw new Error(`${name} lost something`);
  return { seconds: wallMs / 1000, peakMb: peak, freshPerHundred: (fresh / count) * 100 };
}

console.log(JSON.stringify(await { text, growing }[task](...args)));
process.exit(0);
