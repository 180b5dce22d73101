/** A member name, or a place in a list. */
export type Segment = string | number;

const NAME = /[^.[\]]+/y;
const INDEX = /\[(\d{1,9})\]/y;
const QUOTED = /\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y;

/**
 * The steps of a JSONPath to one place (RFC 9535 § 2.7, normalized paths, and the shorthand with dots); undefined for anything else.
 *
 * ```ts
 * parseJsonPath("$.recipe.steps[0]['how long']"); // ['recipe', 'steps', 0, 'how long']
 * ```
 */
export function parseJsonPath(path: string): Segment[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const segments: Segment[] = [];
  let at = 1;
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(path);
    if (found) at = pattern.lastIndex;
    return found;
  };
  while (at < path.length) {
    if (path[at] === '.') {
      at++;
      // Some write a dot before the bracket.
      if (path[at] === '[') continue;
      const name = match(NAME);
      if (!name) return undefined;
      segments.push(name[0]);
      continue;
    }
    const index = match(INDEX);
    if (index) {
      segments.push(Number(index[1]));
      continue;
    }
    const quoted = match(QUOTED);
    if (!quoted) return undefined;
    segments.push((quoted[1] ?? quoted[2] ?? '').replace(/\\(.)/g, '$1'));
  }
  return segments;
}
