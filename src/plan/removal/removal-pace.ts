// Which of the process groups that may go do go now: one fault domain at a time, with a pause in between, unless the
// resource says otherwise. Rules: spec/removal.md [R55]-[R58].
import { mostOf } from "../../env/long-lists.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { PodDeletionMode } from "../../api/automation-options.ts";
import { conditionOf } from "../../model/process-group.ts";

export interface RemovalRules {
  readonly mode: PodDeletionMode;
  readonly pauseSeconds: number;
  readonly nowMs: number;
}

export type RemovalChoice =
  | { readonly kind: "now"; readonly chosen: readonly ProcessGroup[] }
  | { readonly kind: "later"; readonly remainingMs: number }
  | { readonly kind: "never" };

/**
 * `ready` may go; `ending` are the process groups of the removal before of which something is left.
 */
export function removalsNow(
  ready: readonly ProcessGroup[],
  ending: readonly ProcessGroup[],
  rules: RemovalRules,
): RemovalChoice {
  if (rules.mode === "All") return { kind: "now", chosen: ready };
  if (rules.mode === "None") return { kind: "never" };
  const remainingMs = remainingPauseMs(ending, rules);
  if (remainingMs > 0) return { kind: "later", remainingMs };
  const chosen = rules.mode === "Zone" ? largestZone(ready) : ready.slice(0, 1);
  return { kind: "now", chosen };
}

/** The rest of the pause after the newest deletion; none when nothing is left of it. */
export function remainingPauseMs(
  ending: readonly ProcessGroup[],
  rules: Pick<RemovalRules, "pauseSeconds" | "nowMs">,
): number {
  const times = ending.flatMap(
    (group) => conditionOf(group, "ResourcesTerminating")?.timestamp ?? [],
  );
  if (times.length === 0) return 0;
  return Math.max(0, (mostOf(times) + rules.pauseSeconds) * 1000 - rules.nowMs);
}

/** The fault domain with most members; the first one by name when several have as many. */
function largestZone(ready: readonly ProcessGroup[]): readonly ProcessGroup[] {
  const zones = new Map<string, ProcessGroup[]>();
  for (const group of ready) {
    const zone = group.faultDomain ?? "";
    zones.set(zone, [...(zones.get(zone) ?? []), group]);
  }
  const sorted = [...zones].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  let largest: readonly ProcessGroup[] = [];
  for (const [, members] of sorted) if (members.length > largest.length) largest = members;
  return largest;
}
