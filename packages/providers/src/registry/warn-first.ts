import { type AdapterEvent, type Burst, burstsOf, type ChatAdapter, inBursts, type Warning } from '@antiphon/engine';

/** The same adapter, whose first answer begins with these warnings. What else the adapter has (`close`) stays. */
export function warnFirst<A extends ChatAdapter>(adapter: A, warnings: readonly Warning[]): A {
  if (warnings.length === 0) return adapter;
  let told = false;
  return {
    ...adapter,
    stream(request, context) {
      async function* warned(): AsyncGenerator<Burst<AdapterEvent>, void> {
        context.signal.throwIfAborted();
        if (!told) {
          told = true;
          yield warnings.map(warning => ({ type: 'warning' as const, warning }));
        }
        yield* burstsOf(adapter.stream(request, context));
      }
      return inBursts(warned(), context.signal);
    },
  };
}
