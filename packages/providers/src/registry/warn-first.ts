import type { ChatAdapter, Warning } from '@antiphon/engine';

/** The same adapter, whose first answer begins with these warnings. What else the adapter has (`close`) stays. */
export function warnFirst<A extends ChatAdapter>(adapter: A, warnings: readonly Warning[]): A {
  if (warnings.length === 0) return adapter;
  let told = false;
  return {
    ...adapter,
    async *stream(request, context) {
      context.signal.throwIfAborted();
      if (!told) {
        told = true;
        for (const warning of warnings) yield { type: 'warning', warning };
      }
      yield* adapter.stream(request, context);
    },
  };
}
