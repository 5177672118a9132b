// Lists of any length: the machine takes about a hundred thousand arguments in a call, so that a longer list cannot be
// spread into `push` or `Math.max`. Rules: spec/house.md [HOUSE11].

export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** The smallest of the values and of `atMost`. */
export function leastOf(values: Iterable<number>, atMost = Infinity): number {
  let found = atMost;
  for (const value of values) found = Math.min(found, value);
  return found;
}

/** The largest of the values and of `atLeast`. */
export function mostOf(values: Iterable<number>, atLeast = -Infinity): number {
  let found = atLeast;
  for (const value of values) found = Math.max(found, value);
  return found;
}
