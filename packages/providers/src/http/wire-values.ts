// Looking at values of the wire, of which nothing is certain.
import { isRecord, type SourcePart } from '@antiphon/engine';

/** True for text with something in it. */
export function filled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** The objects of a list; none when it is no list. */
export function recordsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** A source with those of the fields that hold text. */
export function sourceFrom(fields: { readonly [K in 'id' | 'url' | 'title' | 'quote']?: unknown }): SourcePart {
  return { type: 'source', ...Object.fromEntries(Object.entries(fields).filter(([, value]) => filled(value))) };
}

/** JSON that goes out; undefined members are left out by JSON.stringify. */
export type WireJson = null | boolean | number | string | undefined | readonly WireJson[] | { readonly [key: string]: WireJson };
export type WireObject = { readonly [key: string]: WireJson };
