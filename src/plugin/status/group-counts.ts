// How many process groups there are of each kind. Pure, and small: the page of the dashboard has it, too.
// Rules: spec/plugin.md [VW22].
import type { GroupState } from "../../model/group-state.ts";

/** Each process group that there is counts once, as what it is worst. */
export interface GroupCounts extends Readonly<Record<GroupState, number>> {
  readonly wanted: number;
  readonly total: number;
  /** Wanted, and not made yet. */
  readonly missing: number;
}

export interface ClassRow extends GroupCounts {
  readonly processClass: string;
}

const counted = [
  ...(["wanted", "total", "missing"] as const),
  ...(["failing", "starting", "leaving", "outdated", "well"] as const),
] as const;

export function countsOf(classes: readonly ClassRow[]): GroupCounts {
  const sum = (of: keyof GroupCounts): number => classes.reduce((total, row) => total + row[of], 0);
  return Object.fromEntries(counted.map((name) => [name, sum(name)])) as unknown as GroupCounts;
}
