// Process groups that can become what the resource wants only through successors: their id has another prefix, or their
// volume was made from an older specification. They stay and are named. Rules: spec/plan.md [P90], [P91].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { parseProcessGroupId } from "../model/process-group-id.ts";
import { hasCondition, isMarkedForRemoval } from "../model/process-group.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";
import type { NewWait } from "./wait.ts";
import { nameList } from "./wait.ts";

export interface ReplacementNeed {
  /** Ids of process groups whose volume claim exists but was made from an older specification. */
  oldVolumes: ReadonlySet<string>;
  waits: NewWait[];
}

export function replacementNeed(snapshot: Snapshot, draft: Draft): ReplacementNeed {
  const groups = draft.groups.filter((group) => !isMarkedForRemoval(group));
  const prefix = snapshot.cluster.spec.processGroupIDPrefix ?? "";
  const misnamed = groups.filter((group) => hasOtherPrefix(group, prefix)).map(idOf);
  const oldVolumes = groups
    .filter((group) => hasCondition(group, "MissingPVC") && hasClaim(snapshot, draft, group))
    .map(idOf);
  const waits: NewWait[] = [];
  if (misnamed.length > 0) {
    waits.push(
      newWait(`The ids of ${nameList(misnamed)} do not begin with the prefix "${prefix}"`),
    );
  }
  if (oldVolumes.length > 0) {
    const names = nameList(oldVolumes);
    waits.push(newWait(`The volumes of ${names} were made from an older specification`));
  }
  return { oldVolumes: new Set(oldVolumes), waits };
}

function idOf(group: ProcessGroup): string {
  return group.processGroupID;
}

function hasOtherPrefix(group: ProcessGroup, prefix: string): boolean {
  const parts = parseProcessGroupId(group.processGroupID);
  return parts !== undefined && parts.prefix !== prefix;
}

function hasClaim(snapshot: Snapshot, draft: Draft, group: ProcessGroup): boolean {
  return snapshot.pvcs.has(draft.desired.pvc(group)?.object.metadata.name ?? "");
}

function newWait(message: string): NewWait {
  return {
    step: "replaceMisconfiguredProcessGroups",
    reason: "ReplacementPending",
    message,
    retryAfterMs: 60_000,
    remedy: "Name them in spec.processGroupsToRemove: successors as wanted are made at once.",
  };
}
