import type { Json, JsonObject } from '@antiphon/engine';

/** The steps of a reference within a schema (a JSON Pointer, RFC 6901): `#/$defs/a~1b` → `['$defs', 'a/b']`; undefined for one to elsewhere. */
export function pointerSteps(reference: string): string[] | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  const steps = reference.split('/').slice(1);
  return steps.map(step => percentDecoded(step).replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What the reference points to; undefined for nothing that is here. */
export function lookUp(reference: string, root: JsonObject): Json | undefined {
  return pointerSteps(reference)?.reduce<Json | undefined>(
    (at, step) => (typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? (at as JsonObject)[step] : undefined),
    root,
  );
}

function percentDecoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    // A name with a bare percent sign.
    return step;
  }
}
