// Reads a number out of a machine-readable status, of whose deeper parts nobody has checked the shape.

/** A finite number at this place, whatever else lies there. */
export function figureIn(value: unknown, ...path: readonly string[]): number | undefined {
  let found: unknown = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) {
      return undefined;
    }
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}
