// What operations on a running cluster are held against: the Go operator 2.33.0 as measured on real
// engines with 15 and 40 processes, and this project's own aims.
import { aims } from "./aims.ts";
import type { OperationRun } from "./operation-run.ts";
import type { OperationId } from "./operations.ts";

/** From the least to the most that was measured. */
export type Range = readonly [least: number, most: number];

export interface GoFigures {
  requests: Range;
  statusWrites: Range;
  recoveries: Range;
  /** In seconds. */
  reconciled?: Range;
  clean?: Range;
}

export type OperationLimits = Partial<Record<"requests" | "statusWrites" | "recoveries", number>>;

/** Work whose amount does not depend on the size of the cluster. */
const goOfAnySize = {
  grow: {
    requests: [13, 15],
    statusWrites: [7, 7],
    recoveries: [0, 0],
    reconciled: [17, 17],
  },
  shrink: {
    requests: [16, 42],
    statusWrites: [11, 16],
    recoveries: [0, 1],
    reconciled: [67, 373],
    clean: [372, 800],
  },
  replace: {
    requests: [17, 20],
    statusWrites: [12, 12],
    recoveries: [0, 0],
    reconciled: [22, 173],
    clean: [86, 544],
  },
  deleteStorage: { requests: [8, 8], statusWrites: [6, 8], recoveries: [0, 0], clean: [31, 31] },
  deleteCoordinator: {
    requests: [30, 30],
    statusWrites: [6, 8],
    recoveries: [1, 1],
    clean: [74, 74],
  },
} as const satisfies Partial<Record<OperationId, GoFigures>>;

const goKnob = {
  small: { groups: 15, requests: [35, 53] },
  large: { groups: 40, requests: [90, 90] },
  statusWrites: [4, 5],
  recoveries: [1, 1],
  reconciled: [20, 80],
} as const;

/** Undefined for operations that were not measured with the Go operator. */
export function goFiguresOf({ id, groups }: OperationRun): GoFigures | undefined {
  if (id === "knob") return { ...goKnob, requests: goKnobRequests(groups) };
  return (goOfAnySize as Partial<Record<OperationId, GoFigures>>)[id];
}

/** Interpolated between the two measured sizes; beyond them per process of the nearer one. */
function goKnobRequests(groups: number): Range {
  const { small, large } = goKnob;
  const at = Math.min(Math.max(groups, small.groups), large.groups);
  const part = (at - small.groups) / (large.groups - small.groups);
  const between = (from: number, to: number): number =>
    Math.round(((from + (to - from) * part) / at) * groups);
  return [
    between(small.requests[0], large.requests[0]),
    between(small.requests[1], large.requests[1]),
  ];
}

/** At most half of the middle of what the Go operator took; one recovery for a knob, and what its proof costs. */
export function operationLimits(run: OperationRun): OperationLimits {
  const go = goFiguresOf(run);
  const more = run.id === "knob" ? aims.canary : { requests: 0, statusWrites: 0 };
  return {
    ...(go === undefined
      ? {}
      : {
          requests: shareOf(go.requests) + more.requests,
          statusWrites: shareOf(go.statusWrites) + more.statusWrites,
        }),
    ...(run.id === "knob" ? { recoveries: aims.knobRecoveries } : {}),
  };
}

function shareOf([least, most]: Range): number {
  return ((least + most) / 2) * aims.shareOfGo;
}
