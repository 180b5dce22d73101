import type { Vendor } from '../http/service.js';

/** Voyage AI. Its key is sent to its own host only. */
export const VOYAGE: Vendor = {
  name: 'voyage',
  hosts: ['api.voyageai.com'],
  root: '/v1',
  keyNames: ['VOYAGE_API_KEY'],
  needsKey: true,
  keyHeader: 'authorization',
};

export const VOYAGE_BASE_URL = 'https://api.voyageai.com/v1';
export const VOYAGE_PATHS = ['/embeddings', '/rerank'] as const;
