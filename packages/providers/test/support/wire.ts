import type { ServerResponse } from 'node:http';

/** Writes what a server of the dialect would write. */
export function chunk(delta: object, finish: unknown = null, extra: object = {}): object {
  return {
    id: 'r1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...extra,
  };
}

export const USAGE = { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 };
export const USAGE_CHUNK = { id: 'r1', object: 'chat.completion.chunk', model: 'm-1', choices: [], usage: USAGE };
export const TEXT = [chunk({ role: 'assistant', content: 'Good ' }), chunk({ content: 'day' })];
export const END = [chunk({}, 'stop'), USAGE_CHUNK];
export const TOOL_END = [chunk({}, 'tool_calls'), USAGE_CHUNK];

export function tools(...deltas: object[]): object {
  return chunk({ tool_calls: deltas });
}

export function fn(index: unknown, id: unknown, name: unknown, args: unknown, more: object = { type: 'function' }): object {
  return { index, id, function: { name, arguments: args }, ...more };
}

export function event(value: unknown, end = '\n'): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}${end}${end}`;
}

export function events(values: readonly unknown[], end = '\n'): string {
  return values.map(value => event(value, end)).join('');
}

export function sse(values: readonly unknown[]): string {
  return events([...values, '[DONE]']);
}

export function head(res: ServerResponse, headers: Record<string, string> = {}): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
}

export function send(res: ServerResponse, body: string | Buffer, headers: Record<string, string> = {}): void {
  head(res, headers);
  res.end(body);
}

/** Each piece reaches the client by itself. */
export async function pieces(res: ServerResponse, parts: readonly (string | Buffer)[], end = true): Promise<void> {
  head(res);
  res.flushHeaders();
  for (const part of parts) {
    await new Promise<void>(resolve => res.write(part, () => resolve()));
    await new Promise(resolve => setTimeout(resolve, 3));
  }
  if (end) res.end();
}
