// How deeply plain values are nested: whoever walks a value that came from outside by recursion asks first. Rule PV17.

/** Resources have about twenty levels. */
export const nestingMaximum = 100;

/** Level by level: the walk itself must not depend on the depth. */
export function isNestedTooDeeply(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= nestingMaximum; depth += 1) {
    level = level.flatMap((one) =>
      typeof one === "object" && one !== null ? (Object.values(one) as unknown[]) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
