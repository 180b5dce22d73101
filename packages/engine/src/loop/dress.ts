import type { ChatAdapter, PreparedRequest } from '../adapters/chat.js';
import type { EngineConfig } from '../contract.js';
import { ConfigurationError } from '../errors.js';
import { RunFold } from '../events/fold.js';
import { withKeys } from '../reliability/keys.js';
import { withMiddleware } from '../reliability/middleware.js';
import { Observation } from '../telemetry/telemetry.js';
import { structuredOutput } from './on-demand.js';
import type { Plan } from './plan.js';
import { prepare } from './prepare.js';
import { repairMessages } from './repair.js';

const METHODS = { model: 'generate', step: 'step', loop: 'chat' } as const;

/** What an engine's parts put around a run: its adapters (from the inside out keys, telemetry, middleware) and its events. */
export function dress(config: EngineConfig, plan: Plan): { readonly plan: Plan; readonly observation?: Observation } {
  const { keys, middleware = [], telemetry, prices } = config;
  const { requestId, sessionId, context, clock, adapter, settings } = plan;
  const session = sessionId === undefined ? {} : { sessionId };
  const info = { requestId, ...session, provider: adapter.provider, model: settings.model ?? adapter.model, clock };
  const observation = telemetry && new Observation(telemetry, { ...info, method: METHODS[plan.kind] });
  const layers: ((inner: ChatAdapter) => ChatAdapter)[] = [];
  if (keys) layers.push(inner => withKeys(inner, keys, { context, requestId, ...session }));
  if (observation) layers.push(inner => observation.adapter(inner));
  if (middleware.length > 0) layers.push(inner => withMiddleware(inner, middleware, { requestId, ...session, context }));
  const wrap = (inner: ChatAdapter) => layers.reduce((adapter, layer) => layer(adapter), inner);
  const dressed = {
    ...plan,
    ...(prices === undefined ? {} : { prices }),
    ...(layers.length === 0 ? {} : { wrap }),
  };
  return { plan: dressed, ...(observation ? { observation } : {}) };
}

/** The HTTP request of a plan's first model call, unsent, with all that a run would warn of before it. */
export async function prepareRequest(plan: Plan, signal = new AbortController().signal): Promise<PreparedRequest> {
  const { messages, warnings } = repairMessages(plan.messages);
  const { adapter, request } = await prepare(plan, 1, new RunFold({ messages }));
  const asked = plan.wrap?.(adapter) ?? adapter;
  if (!asked.prepare)
    throw new ConfigurationError('invalid_option', `The adapter ${asked.provider} cannot show a request without sending it.`);
  const output = plan.output && new (await structuredOutput.get()).OutputRun(plan.output);
  const prepared = await asked.prepare(output?.request(request, adapter) ?? request, {
    signal,
    requestId: plan.requestId,
    clock: plan.clock,
  });
  return warnings.length === 0 ? prepared : { ...prepared, warnings: [...warnings, ...prepared.warnings] };
}
