// The smallest merge patch (RFC 7386) that turns one object into another. Rules: spec/plugin.md [PL31].
import { isSameJson } from "../plan/view/same-json.ts";

/** Undefined when they are the same. Lists are replaced as a whole; a null takes a field out. */
export function mergePatchOf(before: object, after: object): Record<string, unknown> | undefined {
  const [from, to] = [Object.entries(before), Object.entries(after)];
  const old = new Map<string, unknown>(from);
  const now = new Map<string, unknown>(to.filter(([, value]) => value !== undefined));
  const patch: Record<string, unknown> = {};
  for (const [key, value] of now) {
    const known = old.get(key);
    if (isSameJson(known, value)) continue;
    patch[key] = isPlain(known) && isPlain(value) ? mergePatchOf(known, value) : value;
  }
  for (const [key, value] of old) if (value !== undefined && !now.has(key)) patch[key] = null;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
