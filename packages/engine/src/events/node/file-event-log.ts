import { isRecord } from '../../data/json.js';
import { StoreError } from '../../errors.js';
import { orNone } from '../../node/file-errors.js';
import { fileNameOf } from '../../node/file-name.js';
import { nodeModules } from '../../node/modules.js';
import type { StreamEvent } from '../events.js';
import type { EventLog, NumberedEvent } from '../resumable.js';

/**
 * A log of streams in a folder, one JSON Lines file each, so that a stream can be read on after its process has ended. An event is handed to
 * the system before a reader sees it; a line that was torn by a crash is left out, since no reader has seen it either. Needs Node; throws
 * `StoreError` (`io`) elsewhere, and (`corrupt`) for a line that is no event.
 *
 * ```ts
 * const run = resumable(engine.stream('Go.'), { id: 'run-1', log: fileEventLog('runs') });
 * for await (const event of replay(fileEventLog('runs'), 'run-1', 10)) send(event); // later, elsewhere
 * ```
 */
export function fileEventLog<E = StreamEvent>(folder: string): EventLog<E> {
  const pathOf = async (streamId: string) => `${folder}/${await fileNameOf(streamId)}.events.jsonl`;
  let made: Promise<unknown> | undefined;
  return {
    async append(streamId, event) {
      const { files } = await nodeModules();
      made ??= files.mkdir(folder, { recursive: true });
      await made;
      await files.appendFile(await pathOf(streamId), `${JSON.stringify(event)}\n`);
    },
    async *read(streamId, afterSeq) {
      const { files } = await nodeModules();
      const path = await pathOf(streamId);
      const reading = files.readFile(path, 'utf8').catch(orNone(''));
      const text = await reading.catch(cause => {
        throw new StoreError('io', `${path} cannot be read.`, { cause });
      });
      const lines = text.split('\n');
      // What stands behind the last line break is a line that was not finished.
      for (const [i, line] of lines.slice(0, -1).entries()) {
        const event = parseEvent(line);
        if (!event) throw new StoreError('corrupt', `${path}, line ${i + 1}, is no event.`);
        if (event.seq > afterSeq) yield event as NumberedEvent<E>;
      }
    },
  };
}

function parseEvent(line: string): { readonly seq: number } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && typeof value.seq === 'number' ? (value as { seq: number }) : undefined;
  } catch {
    return undefined;
  }
}
