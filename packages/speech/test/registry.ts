// A small server that stands for a registry: it knows ranges, and can be told to misbehave.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Model } from '@antiphon/speech';
import { pack } from 'tar-stream';

export interface TestFile {
  readonly name: string;
  readonly content: Uint8Array;
  readonly type?: 'file' | 'symlink';
}

export async function tarball(files: readonly TestFile[]): Promise<Buffer> {
  const archive = pack();
  for (const { name, content, type = 'file' } of files) {
    if (type === 'symlink') archive.entry({ name, type, linkname: '/etc/passwd' });
    else archive.entry({ name, type }, Buffer.from(content));
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return gzipSync(Buffer.concat(chunks));
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function integrity(bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}

/** A catalog entry for files that stand under `package/` in one tarball. */
export function packageModel(name: string, archive: Uint8Array, files: Readonly<Record<string, Uint8Array>>): Model {
  return {
    name,
    purpose: 'tests',
    licence: 'MIT',
    files: Object.entries(files).map(([path, content]) => ({
      path,
      sha256: sha256(content),
      bytes: content.length,
      sources: [
        { package: `@test/${name}`, version: '1.0.0', integrity: integrity(archive), bytes: archive.length, file: `package/${path}` },
      ],
    })),
  };
}

/** What the server does with one request; without a plan it serves the content, ranges included. */
export type Plan = (request: IncomingMessage, response: ServerResponse, content: Uint8Array) => void;

export interface TestServer {
  readonly url: string;
  /** The `range` header of each request, in order. */
  readonly ranges: (string | undefined)[];
  /** Bytes of body sent so far. */
  sent(): number;
  /** Plans for the next requests, in order. */
  readonly plans: Plan[];
  serve(content: Uint8Array): void;
  close(): Promise<void>;
}

export async function startServer(): Promise<TestServer> {
  let content: Uint8Array = new Uint8Array(0);
  let sent = 0;
  const ranges: (string | undefined)[] = [];
  const plans: Plan[] = [];
  const server = createServer((request, response) => {
    ranges.push(request.headers.range);
    const write = response.write.bind(response);
    response.write = ((chunk: Uint8Array, ...rest: []) => {
      sent += chunk.length;
      return write(chunk, ...rest);
    }) as typeof response.write;
    (plans.shift() ?? serveRanges)(request, response, content);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.tgz`,
    ranges,
    sent: () => sent,
    plans,
    serve(bytes) {
      content = bytes;
    },
    close() {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}

const serveRanges: Plan = (request, response, content) => {
  const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
  if (from === undefined) {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content);
  } else if (Number(from) >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` });
  } else {
    response.writeHead(206, {
      'content-range': `bytes ${from}-${content.length - 1}/${content.length}`,
      'content-length': content.length - Number(from),
    });
    response.write(content.subarray(Number(from)));
  }
  response.end();
};

/** Sends `count` bytes of what is due and then drops the connection. */
export function dieAfter(count: number): Plan {
  return (request, response, content) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const headers = { 'content-length': content.length - from };
    if (from > 0) response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` });
    else response.writeHead(200, headers);
    response.write(content.subarray(from, from + count), () => setTimeout(() => response.destroy(), 20));
  };
}

export function status(code: number): Plan {
  return (_request, response) => {
    response.writeHead(code);
    response.end('no');
  };
}
