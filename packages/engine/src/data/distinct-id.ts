/** The id, or one made from it that is not in `taken`; it is taken from then on. */
export function distinctId(id: string, taken: Set<string>): string {
  let distinct = id;
  for (let n = 2; taken.has(distinct); n++) distinct = `${id}_${n}`;
  taken.add(distinct);
  return distinct;
}
