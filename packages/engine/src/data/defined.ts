/** The members that have a value, for types in which a member may be left out but not be undefined. `defined({ a: 1, b: undefined })` → `{ a: 1 }` */
export function defined<T extends object>(members: T): Defined<T> {
  const present: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(members)) if (value !== undefined) present[key] = value;
  return present as Defined<T>;
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
