// What the engine costs before it does anything: the time to import it, and its size when bundled.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const RUNS = 15;
const entries = {
  'node alone': undefined,
  '@antiphon/engine': '../packages/engine/dist/bundle/index.js',
  '@antiphon/engine + providers': '../packages/providers/dist/bundle/index.js',
  '@antiphon/voice (with engine)': '../packages/voice/dist/bundle/index.js',
};

/** Milliseconds of the import alone, median of fresh processes. */
function importMs(path) {
  const code = path
    ? `const t = performance.now(); await import(${JSON.stringify(new URL(path, import.meta.url).href)}); console.log(performance.now() - t);`
    : 'console.log(0)';
  const times = Array.from({ length: RUNS }, () =>
    Number(spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }).stdout),
  );
  return times.sort((a, b) => a - b)[RUNS >> 1];
}

/** Bytes of the parts that load at once: what is imported on demand is its own file. */
async function bundle(path) {
  const result = await build({
    entryPoints: [fileURLToPath(new URL(path, import.meta.url))],
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    outdir: 'unused',
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const outputs = Object.entries(result.metafile.outputs);
  const byPath = new Map(result.outputFiles.map(file => [file.path, file.contents]));
  const contentsOf = name => [...byPath].find(([path]) => path.replaceAll('\\', '/').endsWith(name))?.[1] ?? new Uint8Array();
  const start = outputs.find(([, output]) => output.entryPoint)?.[0];
  const wanted = new Set();
  const visit = name => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const { path: imported, kind } of result.metafile.outputs[name].imports) if (kind === 'import-statement') visit(imported);
  };
  visit(start);
  const eager = [...wanted].map(contentsOf);
  return { kb: sum(eager.map(bytes => bytes.length)) / 1000, gzipKb: sum(eager.map(bytes => gzipSync(bytes).length)) / 1000 };
}

const sum = numbers => numbers.reduce((a, b) => a + b, 0);

console.log(`${'package'.padEnd(32)}  import ms  minified KB  gzip KB`);
for (const [name, path] of Object.entries(entries)) {
  const size = path ? await bundle(path) : undefined;
  console.log(
    `${name.padEnd(32)}  ${importMs(path).toFixed(1).padStart(9)}  ${(size?.kb.toFixed(1) ?? '').padStart(11)}  ${(size?.gzipKb.toFixed(1) ?? '').padStart(7)}`,
  );
}
