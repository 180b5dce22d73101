import type { ChatAdapter } from '../adapters/chat.js';
import type { EngineConfig } from '../contract.js';
import { defined } from '../data/defined.js';
import { withKeys } from '../reliability/keys.js';
import { withMiddleware } from '../reliability/middleware.js';
import { Observation } from '../telemetry/telemetry.js';
import type { Plan } from './plan.js';

const METHODS = { model: 'generate', step: 'step', loop: 'chat' } as const;

/** What an engine's parts put around a run: its adapters (from the inside out keys, telemetry, middleware) and its events. */
export function withLayers(config: EngineConfig, plan: Plan): { readonly plan: Plan; readonly observation?: Observation } {
  const { keys, middleware = [], telemetry, prices } = config;
  const { requestId, sessionId, context, clock, adapter, settings } = plan;
  const session = defined({ sessionId });
  const info = { requestId, ...session, provider: adapter.provider, model: settings.model ?? adapter.model, clock };
  const observation = telemetry && new Observation(telemetry, { ...info, method: METHODS[plan.kind] });
  const layers: ((inner: ChatAdapter) => ChatAdapter)[] = [];
  if (keys) layers.push(inner => withKeys(inner, keys, { context, requestId, ...session }));
  if (observation) layers.push(inner => observation.adapter(inner));
  if (middleware.length > 0) layers.push(inner => withMiddleware(inner, middleware, { requestId, ...session, context }));
  const wrap = (inner: ChatAdapter) => layers.reduce((adapter, layer) => layer(adapter), inner);
  return { plan: { ...plan, ...defined({ prices, wrap: layers.length === 0 ? undefined : wrap }) }, ...defined({ observation }) };
}
