// Reading a streamed answer: CPU per chunk, memory, 100 streams at once, side by side with other clients in one run, each in a fresh process.
// Writes the plot to bench/streaming.svg.
import { fork, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CLIENTS } from './clients/clients.mjs';

const here = name => fileURLToPath(new URL(name, import.meta.url));
if (!existsSync(here('clients/node_modules'))) {
  console.error('Installing the clients to compare with …');
  // The newest ones ask for Node 22 and run on 20.
  const { status } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error', '--force'],
    {
      cwd: here('clients/'),
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    },
  );
  if (status !== 0) console.error('They could not be installed; only our own rows are shown.');
}

const server = fork(here('clients/server.mjs'), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
const port = await new Promise(resolve => server.stdout.once('data', data => resolve(Number(String(data).trim()))));
const rows = [];
for (const name of Object.keys(CLIENTS)) {
  const { stdout, status } = spawnSync(process.execPath, [here('clients/measure.mjs'), name, String(port)], {
    encoding: 'utf8',
    timeout: 180_000,
  });
  if (status === 0) rows.push(JSON.parse(stdout));
  else console.error(`${name} did not run and is left out.`);
}
server.disconnect();

const columns = [
  ['client', row => row.name],
  ['CPU µs/chunk cold', row => row.coldCpuUs.toFixed(1)],
  ['warm', row => row.warmCpuUs.toFixed(1)],
  ['chunks/s', row => Math.round(row.chunksPerSecond).toLocaleString('en')],
  ['100 × 200 chunks, s', row => (row.concurrentMs / 1000).toFixed(2)],
  ['import ms', row => row.loadMs.toFixed(0)],
  ['peak MB', row => row.peakMb.toFixed(0)],
];
const cells = [columns.map(([title]) => title), ...rows.map(row => columns.map(([, of]) => of(row)))];
const widths = columns.map((_, i) => Math.max(...cells.map(line => line[i].length)));
for (const line of cells) console.log(line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '));
const warm = Object.fromEntries(rows.map(row => [row.name, row.warmCpuUs]));
const ours = warm['antiphon engine + openaiChat'];
console.log();
for (const name of ['bare fetch loop', 'openai 7 raw iterator', 'AI SDK 7 streamText']) {
  if (warm[name]) console.log(`ours / ${name}: ${(ours / warm[name]).toFixed(2)}`);
}
writeFileSync(here('streaming.svg'), plot(rows));

/** Bars of warm CPU per chunk. */
function plot(measured) {
  const [width, bar, gap, left] = [760, 26, 12, 230];
  const most = Math.max(...measured.map(row => row.warmCpuUs));
  const height = 64 + measured.length * (bar + gap);
  const bars = measured.map((row, i) => {
    const y = 52 + i * (bar + gap);
    const length = Math.max(2, ((width - left - 90) * row.warmCpuUs) / most);
    const colour = row.name.startsWith('antiphon') ? '#1f6feb' : '#9aa4b2';
    return `<text x="${left - 10}" y="${y + 18}" text-anchor="end">${row.name}</text><rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${bar}" rx="3" fill="${colour}"/><text x="${(left + length + 8).toFixed(1)}" y="${y + 18}">${row.warmCpuUs.toFixed(1)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="14" fill="#24292f"><title>CPU per streamed chunk by client</title><rect width="100%" height="100%" fill="#ffffff"/><text x="16" y="28" font-size="16" font-weight="600">CPU per streamed chunk, µs, warm (less is better)</text>${bars.join('')}</svg>\n`;
}
