import {
  createEngine,
  type EngineConfig,
  type JsonObject,
  type Outcome,
  type StreamEvent,
  type Tool,
  type ToolContext,
  tool,
  validate,
} from '@antiphon/engine';
import { type ScriptedReply, type ScriptedTurn, scripted, type VirtualClock, virtualClock } from '@antiphon/engine/testing';

// The JSON Schema validator is loaded on first use, and virtual time does not wait for a file.
await validate({ type: 'object' }, {});

/** A tool context for calling `executeTool` by hand. */
export function contextOf(changes: Partial<ToolContext> = {}): ToolContext {
  return {
    context: undefined,
    requestId: 'r',
    call: { id: 'c1', name: 'probe', arguments: {}, rawArguments: '{}' },
    signal: new AbortController().signal,
    progress: () => {},
    ...changes,
  };
}

/** A tool without arguments. */
export function plainTool(name: string, run?: Tool['run'], more: Partial<Omit<Tool, 'name' | 'run' | 'input' | 'inputSchema'>> = {}): Tool {
  return tool({ name, description: `The tool ${name}.`, ...(run === undefined ? {} : { run: run as never }), ...more });
}

/** An engine with a scripted model on the virtual clock. */
export function setUp(turns: readonly ScriptedTurn[], config: EngineConfig = {}) {
  const clock: VirtualClock = virtualClock();
  const chat = scripted(turns);
  return { clock, chat, engine: createEngine({ chat, clock, ...config }) };
}

/** Runs `work` on the virtual clock until no timer is left. */
export async function settled<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  const result = work.then(
    value => ({ value }),
    error => ({ error }),
  );
  await clock.runAll();
  const told = await result;
  if ('error' in told) throw told.error;
  return told.value;
}

export async function collect(stream: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** An outcome without what differs between two runs of the same thing. */
export function comparable({ requestId: _, ...outcome }: Outcome): unknown {
  return outcome;
}

export const jsonCopy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** A call as a scripted model makes it; its id is its name unless another is given. */
export const call = (name: string, args: JsonObject = {}, id = name): NonNullable<ScriptedReply['toolCalls']>[number] => ({
  id,
  name,
  arguments: args,
});

/** A turn that calls these tools. */
export const calls = (...names: string[]): ScriptedReply => ({ toolCalls: names.map(name => call(name)) });

/** The tool results of an outcome, as id and content. */
export const resultsOf = (outcome: Outcome): (readonly [string, unknown])[] =>
  outcome.messages.flatMap(message => (message.role === 'tool' ? [[message.callId, message.content] as const] : []));

export const typesOf = (events: readonly StreamEvent[]) => events.map(event => event.type);

/** A handler that never ends and pays no heed to anything. */
export const deaf = () => new Promise<never>(() => {});
