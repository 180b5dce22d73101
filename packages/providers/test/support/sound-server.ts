// A server on loopback that speaks HTTP and WebSockets, and holds its clients to what the real ones demand.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

export interface SoundServer {
  readonly url: string;
  /** Requests and upgrades so far. */
  readonly hits: { url: string; headers: IncomingMessage['headers']; body: Buffer }[];
  /** Open connections that carry a request or a socket. */
  open(): number;
  readonly sockets: Set<WebSocket>;
  close(): Promise<void>;
}

export interface Script {
  http?(res: ServerResponse, body: Buffer, req: IncomingMessage): unknown;
  /** Refuses an upgrade with a status, headers and a body. */
  refuse?: { status: number; body: string; headers?: Record<string, string> } | 'silent' | 'hang up';
  socket?(socket: WebSocket, req: IncomingMessage): void;
}

export async function soundServer(script: Script): Promise<SoundServer> {
  const hits: SoundServer['hits'] = [];
  const sockets = new Set<WebSocket>();
  const raw = new Set<Socket>();
  let inFlight = 0;
  const server = createServer((req, res) => {
    inFlight++;
    res.on('close', () => inFlight--);
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      hits.push({ url: req.url ?? '', headers: req.headers, body });
      void script.http?.(res, body, req);
    });
    req.on('error', () => {});
    res.on('error', () => {});
  });
  const upgrader = new WebSocketServer({ noServer: true });
  server.on('connection', socket => {
    raw.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => raw.delete(socket));
  });
  server.on('upgrade', (req, socket: Socket, head) => {
    hits.push({ url: req.url ?? '', headers: req.headers, body: Buffer.alloc(0) });
    const { refuse } = script;
    if (refuse === 'silent') return;
    if (refuse === 'hang up') return void socket.destroy();
    if (refuse) {
      const headers = Object.entries({ 'content-length': String(Buffer.byteLength(refuse.body)), connection: 'close', ...refuse.headers });
      socket.end(`HTTP/1.1 ${refuse.status} No\r\n${headers.map(([k, v]) => `${k}: ${v}\r\n`).join('')}\r\n${refuse.body}`);
      return;
    }
    upgrader.handleUpgrade(req, socket, head, client => {
      sockets.add(client);
      client.on('close', () => sockets.delete(client));
      client.on('error', () => {});
      script.socket?.(client, req);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    hits,
    open: () => inFlight + sockets.size,
    sockets,
    close: () =>
      new Promise(resolve => {
        for (const socket of sockets) socket.terminate();
        for (const socket of raw) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** A sine of 440 Hz as 16-bit little-endian mono samples. */
export function sine(samples: number, sampleRate = 24_000): Uint8Array {
  const bytes = new Uint8Array(samples * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < samples; i++) view.setInt16(i * 2, Math.round(12_000 * Math.sin((2 * Math.PI * 440 * i) / sampleRate)), true);
  return bytes;
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** The fields of an uploaded form. */
export function formOf(body: Buffer, contentType: string | undefined): Promise<FormData> {
  return new Response(new Uint8Array(body), { headers: { 'content-type': contentType ?? '' } }).formData();
}

/** Starts servers that are closed behind each test of the file. */
export function soundServers(): (script: Script) => Promise<SoundServer> {
  const open: SoundServer[] = [];
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });
  return async script => {
    const made = await soundServer(script);
    open.push(made);
    return made;
  };
}
