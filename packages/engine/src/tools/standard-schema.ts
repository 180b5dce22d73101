/**
 * What is read here of a schema that speaks Standard Schema 1 (standardschema.dev): zod, valibot, arktype and others. The specification's own
 * package holds types only; these few are one package less for everybody.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** For the compiler; never there at run time. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    /** Since Standard JSON Schema. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: StandardPath | undefined }[] };

export type StandardPath = readonly (PropertyKey | { readonly key: PropertyKey })[];
