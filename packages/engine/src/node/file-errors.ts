/** The system's code of a file error. `codeOf(error) === 'ENOENT'` */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** For a promise about a file: `none` when the file is not there. `readFile(path).catch(orNone(undefined))` */
export function orNone<T>(none: T): (error: unknown) => T {
  return error => {
    if (codeOf(error) === 'ENOENT') return none;
    throw error;
  };
}
