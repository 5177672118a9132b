// A process group stands in the status once. Where a person or a tool has listed one twice, the entries are made one,
// with the more cautious of what they say: it is going when one says so, and its data counts as moved away only when
// all do. Rules: spec/plan.md [P101].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { PlanEvent } from "../step.ts";
import { nameList } from "../wait.ts";

export interface UniqueGroups {
  readonly groups: readonly ProcessGroup[];
  readonly events: readonly PlanEvent[];
}

/** `hasPod` tells which of two entries of different classes is the one that exists. */
export function uniqueGroups(
  groups: readonly ProcessGroup[],
  hasPod: (group: ProcessGroup) => boolean,
): UniqueGroups {
  const found = new Map<string, ProcessGroup>();
  const repeated = new Set<string>();
  for (const group of groups) {
    const known = found.get(group.processGroupID);
    if (known !== undefined) repeated.add(group.processGroupID);
    found.set(
      group.processGroupID,
      known === undefined ? group : mergedEntry(known, group, hasPod),
    );
  }
  if (repeated.size === 0) return { groups, events: [] };
  const message = `The status listed ${nameList([...repeated])} more than once; the entries are made one`;
  const event: PlanEvent = { type: "Warning", reason: "RepairingStatus", message };
  return { groups: [...found.values()], events: [event] };
}

function mergedEntry(
  first: ProcessGroup,
  second: ProcessGroup,
  hasPod: (group: ProcessGroup) => boolean,
): ProcessGroup {
  if (first.processClass !== second.processClass) return hasPod(second) ? second : first;
  const {
    exclusionTimestamp: _once,
    exclusionSkipped: _skipped,
    ...merged
  } = { ...second, ...first };
  const isExcluded = [first, second].every((each) => each.exclusionTimestamp !== undefined);
  const isSkipped = [first, second].every((each) => each.exclusionSkipped === true);
  const addresses = [...new Set([...(first.addresses ?? []), ...(second.addresses ?? [])])];
  return {
    ...merged,
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(isExcluded ? { exclusionTimestamp: first.exclusionTimestamp } : {}),
    ...(isSkipped ? { exclusionSkipped: true } : {}),
  };
}
