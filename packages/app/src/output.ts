import type { Writable } from 'node:stream';

/** Where a command writes. Results go to `out` and nothing else does; what only people need goes to `note`, on stderr. */
export interface Output {
  readonly json: boolean;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Text for people; left out when the result is JSON. */
  text(line: string): void;
  /** The one JSON value of the command, or one line of JSON Lines. */
  value(value: unknown): void;
  note(line: string): void;
}

export function createOutput(json: boolean, stdout: Writable = process.stdout, stderr: Writable = process.stderr): Output {
  return {
    json,
    stdout,
    stderr,
    text: line => {
      if (!json) stdout.write(`${line}\n`);
    },
    value: value => {
      if (json) stdout.write(`${JSON.stringify(value)}\n`);
    },
    note: line => {
      stderr.write(`${line}\n`);
    },
  };
}

/** Columns of text, each as wide as its widest cell; numbers stand to the right. */
export function table(rows: readonly (readonly (string | number)[])[], indent = '  '): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, String(cell).length);
    });
  return rows
    .map(row => {
      const cells = row.map((cell, i) => (typeof cell === 'number' ? String(cell).padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)));
      return (indent + cells.join('  ')).trimEnd();
    })
    .join('\n');
}
