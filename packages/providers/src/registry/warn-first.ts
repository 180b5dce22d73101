import { type AdapterEvent, type Burst, burstsOf, type ChatAdapter, inBursts, type Warning } from '@antiphon/engine';

/**
 * The same adapter, whose first answer begins with these warnings; a request that nobody answers does not count, but has them too. What else
 * the adapter has (`close`) stays.
 */
export function warnFirst<A extends ChatAdapter>(adapter: A, warnings: readonly Warning[]): A {
  if (warnings.length === 0) return adapter;
  let told = false;
  return {
    ...adapter,
    stream(request, context) {
      async function* warned(): AsyncGenerator<Burst<AdapterEvent>, void> {
        context.signal.throwIfAborted();
        if (!told) yield warnings.map(warning => ({ type: 'warning' as const, warning }));
        for await (const burst of burstsOf(adapter.stream(request, context))) {
          told = true;
          yield burst;
        }
      }
      return inBursts(warned(), context.signal);
    },
  };
}
