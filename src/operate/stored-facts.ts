// What the operator before this one found, as it stored it. Rules: spec/plan.md [P107].
import { parseTime } from "../kube/time.ts";

/** By name. One whose time cannot be read counts from now on. */
export function storedFacts<Name extends string>(
  observedSince: Readonly<Partial<Record<Name, string>>> | undefined,
): Partial<Record<Name, number>> {
  const found: Partial<Record<Name, number>> = {};
  for (const name in observedSince) found[name] = parseTime(observedSince[name]) ?? Infinity;
  return found;
}
