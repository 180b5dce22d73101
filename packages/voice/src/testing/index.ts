export { type VirtualClock, virtualClock } from '@antiphon/engine/testing';
export * from './memory-sink.js';
export { checkTrace, type Violation } from './scenario/check-trace.js';
export { type Fuzzed, fuzz, randomScenario } from './scenario/fuzz.js';
export { runScenario } from './scenario/run-scenario.js';
export type { Scenario, ScenarioAnswer, ScenarioTool, UserAction, When } from './scenario/scenario.js';
export { asScenario } from './scenario/scenario.js';
export type { Trace, TraceLine } from './scenario/trace.js';
export * from './scripted.js';
