// Which WebSocket is used, and what is asked of it.
import { ConfigurationError } from '@antiphon/engine';

/** The part of the standard's WebSocket that is used here; that of `ws`, of Node 22 and of Bun all have it. */
export interface WebSocketLike {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(code?: number, reason?: string): void;
}

/** A WebSocket that takes headers as its second argument: keys stand in headers, never in an address. A browser's does not. */
export type WebSocketConstructor = new (url: string, options: { readonly headers: Record<string, string> }) => WebSocketLike;

/** What `ws` can do beyond the standard: tell why an upgrade was refused, feel for the other side, make it wait. */
export interface WsExtras {
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
  ping(): void;
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** The socket's extras when it is one of `ws`. */
export function extrasOf(socket: WebSocketLike): WsExtras | undefined {
  const { on, off, ping, terminate, pause, resume } = socket as WebSocketLike & Partial<WsExtras>;
  const all = [on, off, ping, terminate, pause, resume].every(method => typeof method === 'function');
  return all ? (socket as WebSocketLike & WsExtras) : undefined;
}

/**
 * The given one, else `ws` when it is installed (only it tells the status of a refused upgrade), else the platform's own where that takes
 * headers. Throws `ConfigurationError` (`invalid_option`) when there is none.
 */
export async function webSocketFor(provider: string, given: WebSocketConstructor | undefined): Promise<WebSocketConstructor> {
  if (given !== undefined) return given;
  const { process, WebSocket } = globalThis as unknown as {
    process?: { versions?: Record<string, string | undefined> };
    WebSocket?: WebSocketConstructor;
  };
  if (process?.versions?.node !== undefined) {
    const installed = await import('ws').catch(() => undefined);
    if (installed) return installed.WebSocket;
    if (WebSocket) return WebSocket;
  }
  throw new ConfigurationError(
    'invalid_option',
    `${provider} is spoken to over a WebSocket with headers, and there is none here: install "ws", or pass webSocket to the adapter.`,
    { provider },
  );
}
