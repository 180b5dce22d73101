import { EngineError } from '../errors.js';
import type { WireError } from './protocol.js';

/** An error of the world inside an engine, in the words of its user. */
export function engineError(engine: string, error: WireError): EngineError {
  const cause = Object.assign(new Error(error.message), error.stack === undefined ? {} : { stack: error.stack });
  const missing = /Cannot find (?:package|module) '([^']+)'/.exec(error.message)?.[1];
  if (missing !== undefined && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')) {
    const hint = `Install it: npm install ${missing} --ignore-scripts`;
    return new EngineError('missing_dependency', `${engine} needs the package ${missing}, which is not installed.`, hint, cause);
  }
  const [line = 'unknown error'] = error.message.split('\n');
  return new EngineError('failed', `${engine} failed: ${line}`, '', cause);
}
