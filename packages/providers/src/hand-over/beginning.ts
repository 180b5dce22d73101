import type { Warning } from '@antiphon/engine';
import { warnOnce } from '../http/warnings.js';

/** What the user says where the server wants the user to begin, and the thread begins with the model: it greeted, or was cut from a longer one. */
export function userBegins(target: string, warnings: Warning[]): string {
  const words = '[The conversation begins.]';
  warnOnce(warnings, 'repaired_history', `${target} wants the user to begin; "${words}" was put before the conversation.`);
  return words;
}
