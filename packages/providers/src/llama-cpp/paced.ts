import type { Sequence, Token } from './binding.js';

/**
 * The sequence, but each token waits until `room` resolves: the library's own callbacks cannot hold it back. It asks its sequence for tokens
 * one by one, so that the model is still while nobody has room for one.
 */
export function paced(sequence: Sequence, room: () => Promise<void>): Sequence {
  const evaluate = async function* (...args: Parameters<Sequence['evaluate']>): ReturnType<Sequence['evaluate']> {
    const tokens = sequence.evaluate(...args);
    let instead: Token | Token[] | undefined;
    try {
      for (;;) {
        await room();
        const { done, value } = await tokens.next(instead);
        if (done) return;
        instead = yield value;
      }
    } finally {
      await tokens.return();
    }
  };
  // Not an heir of the sequence: what the library sets on it must reach the sequence itself.
  return new Proxy(sequence, {
    get(target, key) {
      if (key === 'evaluate') return evaluate;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  });
}
