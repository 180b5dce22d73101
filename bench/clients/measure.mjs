// Measures one client in this process: node measure.mjs NAME PORT → one line of JSON.
import { CLIENTS } from './clients.mjs';

const [name, port] = process.argv.slice(2);
const url = count => `http://127.0.0.1:${port}/${count}/v1`;
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const CHUNKS = 20_000;

const began = performance.now();
const read = await CLIENTS[name]();
const loadMs = performance.now() - began;
const measure = async count => {
  const [cpu, wall] = [cpuMs(), performance.now()];
  const text = await read(url(count));
  // The server rounds up to whole writes.
  const expected = Math.ceil(count / 16) * 16 * 5;
  if (text.length !== expected) throw new Error(`${name} got ${text.length} characters of ${expected}`);
  return { cpu: ((cpuMs() - cpu) * 1000) / count, wall: performance.now() - wall };
};
const cold = await measure(CHUNKS);
const warm = [await measure(CHUNKS), await measure(CHUNKS), await measure(CHUNKS)].sort((a, b) => a.cpu - b.cpu)[1];
const many = performance.now();
await Promise.all(Array.from({ length: 100 }, () => read(url(200))));
const concurrentMs = performance.now() - many;
console.log(
  JSON.stringify({
    name,
    loadMs,
    coldCpuUs: cold.cpu,
    warmCpuUs: warm.cpu,
    chunksPerSecond: CHUNKS / (warm.wall / 1000),
    concurrentMs,
    peakMb: process.resourceUsage().maxRSS / 1024,
  }),
);
process.exit(0);
