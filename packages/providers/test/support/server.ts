import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type Answer = (res: ServerResponse, req: IncomingMessage, n: number) => unknown;

export interface TestServer {
  /** Base URL of the scenario with this name. */
  url(name?: string): string;
  /** Requests of the scenario so far. */
  hits(name?: string): number;
  readonly requests: { url: string; headers: IncomingMessage['headers']; body: string }[];
  readonly sockets: Set<Socket>;
  close(): Promise<void>;
}

/** A real HTTP server on loopback. Each scenario answers under its own path: `/NAME/v1/chat/completions`. */
export async function serve(answers: Record<string, Answer> | Answer): Promise<TestServer> {
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const requests: TestServer['requests'] = [];
  const server: Server = createServer((req, res) => {
    const name = decodeURIComponent((req.url ?? '').split('/')[1] ?? '');
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      requests.push({ url: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks).toString() });
      const n = (counts.get(name) ?? 0) + 1;
      counts.set(name, n);
      const answer = typeof answers === 'function' ? answers : Object.hasOwn(answers, name) ? answers[name] : undefined;
      if (answer) void answer(res, req, n);
      else res.writeHead(404).end('no such scenario');
    });
    req.on('error', () => {});
    res.on('error', () => {});
  });
  server.on('connection', socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (name = 'x') => `http://127.0.0.1:${port}/${encodeURIComponent(name)}/v1`,
    hits: (name = 'x') => counts.get(name) ?? 0,
    requests,
    sockets,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Resolves when `condition` holds; rejects after a generous bound. Checks between turns of the event loop, without sleeping. */
export async function until(condition: () => boolean, what = 'condition'): Promise<void> {
  const end = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`Not reached: ${what}`);
    await new Promise(resolve => setImmediate(resolve));
  }
}
