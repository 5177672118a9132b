// Which process groups are fenced. It is noted as the condition Fenced, beside MissingProcesses, so that nobody takes them for
// failed, and so that it outlasts the pod and the operator. Rules: spec/fencing.md [FENCE5], [FENCE8], [FENCE9].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isIsolated, isMarkedFenced } from "../../build/fence.ts";
import {
  hasCondition,
  removeCondition,
  replacementConditions,
  setCondition,
} from "../../model/process-group.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { fenceWish } from "../view/fence.ts";

export function withFence(snapshot: Snapshot, entry: ProcessGroup): ProcessGroup {
  const group = fenced(snapshot, entry);
  const isOver = hasCondition(entry, "Fenced") && !hasCondition(group, "Fenced");
  return isOver ? redated(group, snapshot.nowMs) : group;
}

function fenced(snapshot: Snapshot, group: ProcessGroup): ProcessGroup {
  const { pod, processes } = viewOf(snapshot).of(group);
  const wish = fenceWish(snapshot, group);
  if (pod === undefined) return wish === "spec" ? group : removeCondition(group, "Fenced");
  const isOurs = isMarkedFenced(pod) || wish !== undefined;
  if (!isIsolated(pod) || !isOurs) return removeCondition(group, "Fenced");
  // Without a status it stays as it was.
  if (snapshot.database.kind !== "seen") return group;
  return setCondition(group, "Fenced", processes.length === 0, snapshot.nowMs);
}

/** What was so because of the fence does not count as long as it lasted: failure detection begins anew. */
function redated(group: ProcessGroup, nowMs: number): ProcessGroup {
  const timestamp = Math.floor(nowMs / 1000);
  const processGroupConditions = (group.processGroupConditions ?? []).map((condition) =>
    replacementConditions.includes(condition.type) ? { ...condition, timestamp } : condition,
  );
  return { ...group, processGroupConditions };
}
