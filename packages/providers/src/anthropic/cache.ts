import { type ChatRequest, isRecord } from '@antiphon/engine';
import type { WireObject } from '../http/wire-values.js';

import type { WireTurn } from './messages.js';

const MAX_BREAKPOINTS = 4;

/** The parts of a request that a cached beginning can end in, in the order in which the API reads them. */
export interface Cacheable {
  readonly tools: WireObject[];
  readonly system: WireObject[];
  readonly messages: WireTurn[];
}

/**
 * Marks where the cached beginning of a request ends: behind the tools, behind the instructions, and behind the last two user messages, so that
 * each request finds what the one before it has written. Marks that the caller has set by himself count towards the four that the API
 * allows. Changes the lists that it is given.
 */
export function markCache(cache: ChatRequest['promptCache'], { tools, system, messages }: Cacheable): void {
  if (cache === undefined) return;
  const mark = { type: 'ephemeral', ...(cache.retention === 'long' ? { ttl: '1h' } : {}) };
  const content = messages.filter(turn => turn.role === 'user').map(turn => turn.content);
  const lists = [content.at(-1), system, tools, content.at(-2)];
  let free = MAX_BREAKPOINTS - [...tools, ...system, ...content.flat()].filter(isMarked).length;
  for (const list of lists) {
    const at = list?.findLastIndex(block => block.defer_loading !== true) ?? -1;
    const block = list?.[at];
    if (!list || !block || isMarked(block)) continue;
    if (free-- <= 0) return;
    list[at] = { ...block, cache_control: mark };
  }
}

function isMarked(block: WireObject): boolean {
  return isRecord(block.cache_control);
}
