// How many process groups of a class may be excluded at once: never so many that fewer than the wanted number would be
// left to serve, apart from what the redundancy mode can spare. Rules: spec/removal.md [R35]-[R37].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { conditionOf, isReadyForRemoval, isMarkedForRemoval } from "../../model/process-group.ts";
import { redundancyOf } from "../../model/redundancy.ts";

/** A process that stays and has been missing for less than this may come back: nothing is taken from its class. */
export const missingGraceMs = 5 * 60_000;

export interface ClassState {
  /** Process groups of one class. */
  readonly groups: readonly ProcessGroup[];
  readonly desired: number;
  readonly faultTolerance: number;
  /** Ids of those whose exclusion has begun and not ended. */
  readonly ongoing: ReadonlySet<string>;
  readonly nowMs: number;
}

export interface ClassBudget {
  readonly allowed: number;
  /** What would be allowed if nobody were expected back; below zero when too few report already. */
  readonly room: number;
  /** Of those that may come back. */
  readonly recentlyMissing: readonly string[];
  readonly explanation: string;
}

export function exclusionBudget(state: ClassState): ClassBudget {
  let valid = 0;
  let ongoing = 0;
  const recentlyMissing: string[] = [];
  for (const group of state.groups) {
    if (isReadyForRemoval(group)) continue;
    const missingMs = missingForMs(group, state.nowMs);
    if (missingMs === undefined) {
      valid += 1;
      if (state.ongoing.has(group.processGroupID)) ongoing += 1;
    } else if (missingMs < missingGraceMs && !isMarkedForRemoval(group)) {
      recentlyMissing.push(group.processGroupID);
    }
  }
  const room = valid + state.faultTolerance - state.desired - ongoing;
  return {
    allowed: recentlyMissing.length > 0 ? 0 : Math.max(0, room),
    room,
    recentlyMissing,
    explanation:
      `${valid} report, ${state.desired} are wanted, of which ${state.faultTolerance} may be missing; ` +
      `being excluded: ${ongoing}`,
  };
}

/** What the mode can do without; a fallback mode is there to do without a whole hall. */
export function spareProcesses(mode: string | undefined, desired: number): number {
  const { faultTolerance, fullMode } = redundancyOf(mode);
  return faultTolerance + (fullMode === undefined ? 0 : Math.ceil(desired / 3));
}

/** Undefined while its processes report; a group without pod has none. */
export function missingForMs(group: ProcessGroup, nowMs: number): number | undefined {
  const condition = conditionOf(group, "MissingProcesses") ?? conditionOf(group, "MissingPod");
  return condition === undefined ? undefined : nowMs - (condition.timestamp ?? 0) * 1000;
}
