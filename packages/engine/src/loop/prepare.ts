import type { ChatAdapter, ChatRequest, PreparedRequest } from '../adapters/chat.js';
import type { Tool } from '../contract.js';
import { RunFold } from '../events/fold.js';
import { repairMessages } from '../history/repair.js';
import { invalidOption } from '../invalid-option.js';
import { wireTools, withToolHelp } from '../tools/compact.js';
import { toolMap } from '../tools/tool.js';
import { structuredOutput } from './on-demand.js';
import { checkChanges, mergeSettings } from './options.js';
import { checkMessages, checkToolChoice, type Plan } from './plan.js';

/** What one model call is made with. */
export interface PreparedStep {
  readonly adapter: ChatAdapter;
  readonly request: ChatRequest;
  readonly tools: ReadonlyMap<string, Tool>;
}

/** The plan's request for this turn, with what `prepareStep` changes. Throws `ConfigurationError` for changes that cannot work. */
export async function prepare(plan: Plan, turn: number, fold: RunFold): Promise<PreparedStep> {
  const thread = fold.messages;
  const { steps, usage } = fold;
  const changes = (await plan.prepareStep?.({ step: turn, steps, messages: thread, usage, context: plan.context })) ?? {};
  checkChanges(changes);
  if (changes.messages !== undefined) checkMessages(changes.messages);
  const tools = changes.tools ? withToolHelp(toolMap(changes.tools)) : plan.tools;
  const messages = changes.messages ? repairMessages(changes.messages).messages : thread;
  if (messages.length === 0) throw invalidOption('prepareStep left no message to send.');
  const toolChoice = changes.toolChoice ?? choiceFor(turn, plan);
  checkToolChoice(toolChoice, tools);
  const specs = wireTools(tools, toolChoice);
  return {
    adapter: changes.chat ?? plan.adapter,
    tools,
    request: {
      ...mergeSettings(changes, plan.settings),
      messages,
      ...(specs.length > 0 ? { tools: specs } : {}),
      ...(toolChoice === undefined || specs.length === 0 ? {} : { toolChoice }),
    },
  };
}

/** The HTTP request of a plan's first model call, unsent, with all that a run would warn of before it. */
export async function prepareRequest(plan: Plan, signal = new AbortController().signal): Promise<PreparedRequest> {
  const { messages, warnings } = repairMessages(plan.messages);
  const { adapter, request } = await prepare(plan, 1, new RunFold({ messages }));
  const asked = plan.wrap?.(adapter) ?? adapter;
  if (!asked.prepare) throw invalidOption(`The adapter ${asked.provider} cannot show a request without sending it.`);
  const output = plan.output && new (await structuredOutput.get()).OutputRun(plan.output);
  const prepared = await asked.prepare(output?.request(request, adapter) ?? request, {
    signal,
    requestId: plan.requestId,
    clock: plan.clock,
  });
  return warnings.length === 0 ? prepared : { ...prepared, warnings: [...warnings, ...prepared.warnings] };
}

/** A forced call is forced once: on every turn it would keep the model from ever answering. */
function choiceFor(turn: number, { toolChoice }: Plan): Plan['toolChoice'] {
  return turn > 1 && (toolChoice === 'required' || typeof toolChoice === 'object') ? 'auto' : toolChoice;
}
