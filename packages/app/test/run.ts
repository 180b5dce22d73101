import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const bin = fileURLToPath(new URL('../bin/antiphon.js', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'antiphon-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the command as a user does: in a process of its own, in an empty folder, with nothing in the environment that chooses a model. */
export async function antiphon(
  args: readonly string[],
  options: { readonly stdin?: string; readonly env?: Record<string, string>; readonly cwd?: string; readonly interruptAfter?: RegExp } = {},
): Promise<Ran> {
  const inherited = Object.entries(process.env).filter(([name]) => !/_API_KEY$|^ANTIPHON_(?!MODELS$)/.test(name));
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: options.cwd ?? temporaryFolder(),
    env: { ...Object.fromEntries(inherited), ...options.env },
    stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    if (options.interruptAfter?.test(stderr)) child.kill('SIGINT');
  });
  if (options.stdin !== undefined) child.stdin?.end(options.stdin);
  const code = await new Promise<number | null>(resolve => child.on('close', resolve));
  return { code, stdout, stderr };
}

/** A server of this machine for one test; gives its base URL. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>(resolve => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Answers every chat request with this text, streamed. */
export const answering =
  (text: string): RequestListener =>
  (request, response) => {
    if (request.url?.endsWith('/models')) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: [{ id: 'tiny' }] }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const chunk = (delta: object, finish: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'tiny', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
    for (const word of text.match(/\s*\S+/g) ?? []) chunk({ content: word });
    chunk({}, 'stop');
    response.end('data: [DONE]\n\n');
  };
