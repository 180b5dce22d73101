/** Plain JSON data: the canonical form of everything that is stored or sent. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** True for an object that is neither an array nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Why a value is not JSON, as a path and a word; undefined when it is. Cycles, functions, symbols, bigints, NaN and undefined are refused. */
export function jsonFault(value: unknown, path = '$', above: readonly object[] = []): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : `${path} is ${value}`;
    case 'object':
      break;
    default:
      return `${path} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`;
  }
  if (value === null) return undefined;
  if (above.includes(value)) return `${path} refers back to itself`;
  const within = [...above, value];
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = jsonFault(value[i], `${path}[${i}]`, within);
      if (fault) return fault;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    // JSON.stringify leaves an undefined member out, so it is no fault in an object.
    if (item === undefined) continue;
    const fault = jsonFault(item, `${path}.${key}`, within);
    if (fault) return fault;
  }
  return undefined;
}
