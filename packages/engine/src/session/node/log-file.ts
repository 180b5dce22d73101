/// <reference types="node" />
// What a session's file looks like: a header, then one line for each append. A line counts when its end has been written.
//
//   {"version":2,"id":"ada","position":0}
//   {"at":0,"entries":[…]}
//   {"at":1,"entries":[…,…]}
import { isRecord, type Json } from '../../data/json.js';
import { StoreError } from '../../errors.js';

const VERSION = 2;

/** What the lines of a file say. */
export interface LogContent {
  readonly id: string;
  readonly entries: readonly Json[];
  readonly position: number;
  /** Lines that count. */
  readonly lines: number;
  /** Bytes up to the end of the last line that counts; what stands behind was cut off by a crash. */
  readonly size: number;
  /** The file is written anew before anything is added to it. */
  readonly old: boolean;
}

/** The first line of a file whose first entry comes after `position` others. */
export function headerLine(id: string, position: number): string {
  return `${JSON.stringify({ version: VERSION, id, position })}\n`;
}

/** The line of one append. */
export function appendLine(at: number, entries: readonly Json[]): string {
  return `${JSON.stringify({ at, entries })}\n`;
}

/** What a whole file says; undefined for one that a crash cut off before its first line was done. Throws `StoreError` (`corrupt`). */
export function readLog(file: string, bytes: Buffer): LogContent | undefined {
  const { lines, size } = completeLines(bytes);
  const first = lines[0];
  if (first === undefined) return undefined;
  const header = parseLine(file, 1, first);
  const migrated = MIGRATIONS[String(header.version)]?.(file, header, lines);
  if (migrated) return { ...migrated, size, old: true };
  const { version, id, position } = header;
  if (version !== VERSION)
    throw corrupt(file, 1, `version ${JSON.stringify(version) ?? 'undefined'} is not known here; update @antiphon/engine`);
  if (typeof id !== 'string' || typeof position !== 'number') throw corrupt(file, 1, 'the header must have an id and a position');
  return { id, ...readLines(file, lines.slice(1), { position, line: 2 }), size, old: false };
}

/** What was added to a file behind `from`. */
export function readTail(file: string, bytes: Buffer, from: Pick<LogContent, 'position' | 'lines' | 'size'>) {
  const { lines, size } = completeLines(bytes);
  const { position, lines: count } = readLines(file, lines, { position: from.position, line: from.lines + 1 });
  return { position, lines: count, size: from.size + size };
}

type Migrated = Omit<LogContent, 'size' | 'old'>;

/** How files of old versions are read. */
const MIGRATIONS: { readonly [version: string]: (file: string, header: Record<string, unknown>, lines: readonly string[]) => Migrated } = {
  // A file was one line: the session's own data.
  1: (file, session, lines) => {
    if (typeof session.id !== 'string') throw corrupt(file, 1, 'the session must have an id');
    if (lines.length > 1) throw corrupt(file, 2, 'a file of version 1 has one line');
    return { id: session.id, entries: [{ type: 'snapshot', session } as unknown as Json], position: 1, lines: 1 };
  },
};

function readLines(file: string, lines: readonly string[], from: { readonly position: number; readonly line: number }) {
  const entries: Json[] = [];
  for (const [i, line] of lines.entries()) {
    const { at, entries: added } = parseLine(file, from.line + i, line);
    const expected = from.position + entries.length;
    if (!Array.isArray(added)) throw corrupt(file, from.line + i, 'it has no list of entries');
    if (at !== expected)
      throw corrupt(
        file,
        from.line + i,
        `it stands at ${JSON.stringify(at)}, but ${expected} comes next: a line is missing or twice there`,
      );
    for (const entry of added) entries.push(entry as Json);
  }
  return { entries, position: from.position + entries.length, lines: from.line - 1 + lines.length };
}

function completeLines(bytes: Buffer): { readonly lines: readonly string[]; readonly size: number } {
  const size = bytes.lastIndexOf(0x0a) + 1;
  const lines = size === 0 ? [] : bytes.toString('utf8', 0, size - 1).split('\n');
  return { lines, size };
}

function parseLine(file: string, line: number, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw corrupt(file, line, 'it is no JSON', cause);
  }
  if (!isRecord(value)) throw corrupt(file, line, 'it must be an object');
  return value;
}

function corrupt(file: string, line: number, why: string, cause?: unknown): StoreError {
  const message = `${file}, line ${line}, cannot be read: ${why}. Restore the file from a backup, or move it away to begin anew.`;
  return new StoreError('corrupt', message, cause === undefined ? {} : { cause });
}
