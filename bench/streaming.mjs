// Reading a streamed answer: CPU per chunk, memory, 100 streams at once, delay of each chunk, side by side with other clients in one run, each in a fresh process, three times.
// Writes the plot to bench/streaming.svg.
import { writeFileSync } from 'node:fs';
import { compare } from './clients/compare.mjs';
import { printColumns } from './clients/table.mjs';
import { CLIENTS } from './clients/text.mjs';

const ROUNDS = 3;
const rounds = new Map(Object.keys(CLIENTS).map(name => [name, []]));
await compare(measure => {
  for (let round = 0; round < ROUNDS; round++) for (const [name, rows] of rounds) rows.push(measure('text', name));
});
// The round in the middle: one may have been disturbed.
const measured = [...rounds.values()].flatMap(rows => {
  const good = rows.filter(row => row).sort((a, b) => a.warmCpuUs - b.warmCpuUs);
  return good.slice(good.length >> 1, (good.length >> 1) + 1);
});

printColumns(
  [
    ['client', row => row.name],
    ['CPU µs/chunk cold', row => row.coldCpuUs.toFixed(1)],
    ['warm', row => row.warmCpuUs.toFixed(1)],
    ['chunks/s', row => Math.round(row.chunksPerSecond).toLocaleString('en')],
    ['100 × 200 chunks, s', row => (row.concurrentMs / 1000).toFixed(2)],
    ['late by p50 ms', row => row.lateP50Ms.toFixed(2)],
    ['p99', row => row.lateP99Ms.toFixed(2)],
    ['first token ms', row => row.firstMs.toFixed(1)],
    ['import ms', row => row.loadMs.toFixed(0)],
    ['peak MB', row => row.peakMb.toFixed(0)],
  ],
  measured,
);
const warm = Object.fromEntries(measured.map(row => [row.name, row.warmCpuUs]));
const ours = warm['antiphon engine + openaiChat'];
for (const name of ['bare fetch loop', 'openai 7 raw iterator', 'AI SDK 7 streamText']) {
  if (warm[name]) console.log(`ours / ${name}: ${(ours / warm[name]).toFixed(2)}`);
}
writeFileSync(new URL('streaming.svg', import.meta.url), plot(measured));

/** Bars of warm CPU per chunk. */
function plot(rows) {
  const [width, bar, gap, left] = [760, 26, 12, 230];
  const most = Math.max(...rows.map(row => row.warmCpuUs));
  const height = 64 + rows.length * (bar + gap);
  const bars = rows.map((row, i) => {
    const y = 52 + i * (bar + gap);
    const length = Math.max(2, ((width - left - 90) * row.warmCpuUs) / most);
    const colour = row.name.startsWith('antiphon') ? '#1f6feb' : '#9aa4b2';
    return `<text x="${left - 10}" y="${y + 18}" text-anchor="end">${row.name}</text><rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${bar}" rx="3" fill="${colour}"/><text x="${(left + length + 8).toFixed(1)}" y="${y + 18}">${row.warmCpuUs.toFixed(1)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="14" fill="#24292f"><title>CPU per streamed chunk by client</title><rect width="100%" height="100%" fill="#ffffff"/><text x="16" y="28" font-size="16" font-weight="600">CPU per streamed chunk, µs, warm (less is better)</text>${bars.join('')}</svg>\n`;
}
