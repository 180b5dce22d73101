// Asks the user's own npm client where a tarball stands, so that their registry, proxy and configuration apply.

import { spawn } from 'node:child_process';
import type { PackageSource } from './catalog.js';

/** Gives the address of a package's tarball. */
export type ResolveTarball = (source: Pick<PackageSource, 'package' | 'version'>, signal?: AbortSignal) => Promise<string>;

const PACKAGE = /^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/i;
const VERSION = /^[\w.+-]+$/;

/** Runs `npm view PACKAGE@VERSION dist.tarball`. Rejects with a plain Error whose message is one line. */
export const resolveTarballWithNpm: ResolveTarball = async (source, signal) => {
  // The words reach a shell on Windows, where npm is a batch file.
  if (!PACKAGE.test(source.package) || !VERSION.test(source.version)) {
    throw new Error(`"${source.package}@${source.version}" is not a package name and an exact version.`);
  }
  const spec = `${source.package}@${source.version}`;
  const output = await run(['view', spec, 'dist.tarball', '--json', '--loglevel=error'], signal);
  const url = firstUrl(output);
  if (url === undefined) throw new Error(`npm knows no tarball for ${spec}.`);
  return url;
};

function firstUrl(output: string): string | undefined {
  try {
    const value: unknown = JSON.parse(output);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === 'string' && /^https?:\/\//.test(first) ? first : undefined;
  } catch {
    return undefined;
  }
}

function run(args: readonly string[], signal: AbortSignal | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const windows = process.platform === 'win32';
    const child = spawn(windows ? 'npm.cmd' : 'npm', [...args], {
      shell: windows,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(signal === undefined ? {} : { signal }),
    });
    let output = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    child.on('error', error => reject(signal?.aborted ? signal.reason : new Error(`npm does not start: ${error.message}`)));
    child.on('close', code => {
      if (code === 0) return resolve(output);
      const line = complaint.split('\n').find(text => /\S/.test(text)) ?? `exit code ${code}`;
      reject(new Error(`npm view failed: ${line.trim()}`));
    });
  });
}
