import { askUser, createEngine, type Json, memoryStore, type SessionStore, type ToolContext } from '@antiphon/engine';
import { type ScriptedReply, scripted } from '@antiphon/engine/testing';
import { plainTool } from './support.js';

/** A promise that never settles: what a process that has died waits for. */
const never = () => new Promise<never>(() => {});

/**
 * A store whose process dies with the append number `at`: nothing resolves from then on. `wrote` says whether that append had reached the
 * log before.
 */
export function dyingStore(store: SessionStore, at: number, wrote: boolean) {
  let appends = 0;
  let die = () => {};
  const died = new Promise<void>(resolve => {
    die = resolve;
  });
  const dying: SessionStore = {
    ...store,
    async append(...args) {
      const now = ++appends;
      if (now < at) return store.append(...args);
      if (now === at && wrote) await store.append(...args);
      die();
      return never();
    },
  };
  return { store: dying, died };
}

/** A store that fails with the appends that `when` names, by their number from 1 and their entries. */
export function failingStore(when: (append: number, entries: readonly Json[]) => boolean) {
  const store = memoryStore();
  let appends = 0;
  const failing: SessionStore = {
    ...store,
    async append(id, entries, position) {
      if (when(++appends, entries)) throw new Error('disk full');
      return store.append(id, entries, position);
    },
  };
  return { store, failing };
}

/** What a store holds of a session, by the types of its entries. */
export async function logOf(store: SessionStore, id: string): Promise<string[]> {
  const { entries = [] } = (await store.load(id)) ?? {};
  return entries.map(entry => (entry as { type: string }).type);
}

/** Says what it is told to, by how many results it has seen: a process that comes later goes on rightly. */
function modelOf(turns: readonly (ScriptedReply | string)[]) {
  const answer = ({ messages }: { messages: readonly { role: string }[] }) =>
    turns[messages.filter(({ role }) => role === 'assistant').length] ?? 'Nothing more.';
  return scripted(Array.from({ length: 100 }, () => answer));
}

/** A call as a scripted model makes it. */
export const call = (name: string, id = name) => ({ id, name });

/** An engine whose tools write down what took effect. */
export function world(turns: readonly (ScriptedReply | string)[]) {
  const effects: string[] = [];
  const note = (_: unknown, { call: { name }, idempotencyKey }: ToolContext) => {
    if (!effects.includes(`${name} ${idempotencyKey}`)) effects.push(`${name} ${idempotencyKey}`);
    else effects.push(`AGAIN ${name} ${idempotencyKey}`);
    return `${name} done`;
  };
  const runs: string[] = [];
  const counting = (run: typeof note) => (args: unknown, context: ToolContext) => {
    runs.push(context.call.id);
    return run(args, context);
  };
  const tools = [
    plainTool('pay', counting(note)),
    plainTool('book', counting(note)),
    // Idempotent by its key: a repetition has no second effect.
    plainTool(
      'put',
      counting((args, context) => (effects.includes(`put ${context.idempotencyKey}`) ? 'put done' : note(args, context))),
      {
        idempotent: true,
      },
    ),
    plainTool('guarded', counting(note), { approve: true }),
    plainTool('asks', () => askUser('Which day?')),
  ];
  const engine = () => createEngine({ chat: modelOf(turns), tools, retry: false });
  return { effects, runs, engine };
}

/** Lets everything go on that can. */
export const settle = () => new Promise(resolve => setImmediate(resolve));
