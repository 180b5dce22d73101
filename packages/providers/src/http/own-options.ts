import type { JsonObject, Warning } from '@antiphon/engine';

interface HasOptions {
  readonly providerOptions?: { readonly [provider: string]: JsonObject } | undefined;
}

/** The caller's own fields for this provider, or for the one whose protocol it speaks. */
export function ownOptions({ providerOptions = {} }: HasOptions, ...names: readonly string[]): JsonObject {
  const own = names.find(name => Object.hasOwn(providerOptions, name));
  return own === undefined ? {} : (providerOptions[own] ?? {});
}

/** The caller's own fields over the request's; each one that is replaced is told. */
export function withOwnOptions<Body extends object>(body: Body, own: JsonObject, warnings: Warning[]): Body {
  for (const field of Object.keys(own)) if (Object.hasOwn(body, field)) warnings.push(replaced(field));
  return { ...body, ...own };
}

/** What is sent of a part, with the caller's own fields over it. A note that stands for a part has no place for them. */
export function withPartOptions<Wire extends object>(wire: Wire, part: HasOptions, ...names: readonly string[]): Wire {
  return part.providerOptions === undefined ? wire : { ...wire, ...ownOptions(part, ...names) };
}

export function replaced(field: string): Warning {
  return { code: 'other', setting: field, message: `providerOptions replace the field "${field}" of the request.` };
}
