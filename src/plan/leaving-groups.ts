// Process groups that must not become coordinators: those that this or another instance removes.
// Rules: spec/restart.md [T1], spec/coordination.md [CO34].
import { isMarkedForRemoval } from "../model/process-group.ts";
import { leavingAnywhere } from "./shared-sets.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";

export function leavingGroups(
  snapshot: Snapshot,
  draft: Pick<Draft, "groups" | "status">,
): ReadonlySet<string> {
  const own = draft.groups.filter(isMarkedForRemoval).map((group) => group.processGroupID);
  return new Set([...own, ...leavingAnywhere(snapshot, draft.status)]);
}
