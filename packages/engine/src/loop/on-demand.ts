// What most runs do without.
import { OnDemand } from '../async/on-demand.js';

/** For a run whose model calls tools. */
export const answering = new OnDemand(() => import('./answer-calls.js'));
/** For a run with an output schema. */
export const structuredOutput = new OnDemand(() => import('../output/output-run.js'));
/** For a call that may go on after its answer broke off. */
export const partialAnswers = new OnDemand(() => import('../reliability/partial-answer.js'));
