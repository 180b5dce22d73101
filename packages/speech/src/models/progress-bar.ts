import type { PullProgress } from './progress.js';

/** The part of a stream that the bar needs; `process.stderr` fits. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const WIDTH = 24;

/**
 * Draws the progress of pulls: a bar that redraws itself on a terminal; on anything else one plain line when a download
 * begins and one when it is done.
 *
 * @example
 * const models = createModelCache({ onProgress: progressBar(process.stderr) });
 */
export function progressBar(stream: ProgressStream): (progress: PullProgress) => void {
  let current: string | undefined;
  let drawnPercent = -1;
  return progress => {
    const key = `${progress.model} ${progress.source}`;
    const begins = key !== current;
    current = progress.done ? undefined : key;
    if (stream.isTTY !== true) {
      if (begins && !progress.done) stream.write(`${progress.model}: fetching ${progress.source}${ofTotal(progress)}\n`);
      if (progress.done) stream.write(`${progress.model}: done, ${megabytes(progress.receivedBytes)}\n`);
      return;
    }
    const share = progress.totalBytes === undefined ? 0 : Math.min(1, progress.receivedBytes / progress.totalBytes);
    const percent = progress.totalBytes === undefined ? Math.floor(progress.receivedBytes / 1e5) : Math.floor(share * 100);
    if (percent === drawnPercent && !begins && !progress.done) return;
    drawnPercent = percent;
    const filled = Math.round(share * WIDTH);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
    const line = `${progress.model} ${bar} ${megabytes(progress.receivedBytes)}${ofTotal(progress)}`;
    stream.write(`\r\u001b[K${line.slice(0, (stream.columns ?? 80) - 1)}${progress.done ? '\n' : ''}`);
  };
}

function ofTotal({ totalBytes }: PullProgress): string {
  return totalBytes === undefined ? '' : ` of ${megabytes(totalBytes)}`;
}

function megabytes(bytes: number): string {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
