// The first pods that are made from a new specification prove it: while none of a class reports and one of them does not
// come back, no other running pod is touched. Rules: spec/restart.md [T117].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { leastOf } from "../../env/long-lists.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import { conditionOf, hasCondition, hasReported } from "../../model/process-group.ts";
import type { ConditionType } from "../../model/process-group.ts";
import { judgeCanary } from "./canary.ts";
import type { CanaryMember } from "./canary.ts";
import { hold } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { startTrouble } from "./pod-waits.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { isOutdated } from "./outdated-pods.ts";
import type { PodUpdate } from "./outdated-pods.ts";
import { viewOf } from "../view/cluster-view.ts";

/** An image may have to be pulled and a volume to be attached. */
const times = { provenMs: 0, patienceMs: 180_000 };
/** A registry may be away for a moment, and a container may end once. */
const troubleMs = 60_000;

const absences: readonly ConditionType[] = ["MissingProcesses", "PodPending", "PodFailing"];

/** `updates` are the pods that run and are of an older specification. */
export function podCanaryHold(
  snapshot: Snapshot,
  draft: Draft,
  updates: readonly PodUpdate[],
): Hold | undefined {
  const status = databaseStatus(snapshot);
  if (status === undefined) return undefined;
  const verdict = judgeCanary(membersOf(snapshot, draft, updates, status), times);
  if (verdict.kind === "proving") {
    const message = `The first ones of the new specification have to report before: ${verdict.processGroupIds.join(", ")}`;
    return hold("PodUpdateHeld", message, "Nothing for a while; then look at their pods.", 2_000);
  }
  if (verdict.kind !== "failed") return undefined;
  const [id = ""] = verdict.processGroupIds;
  const group = draft.groups.find((each) => each.processGroupID === id);
  const { podName: name = id, pod } = group === undefined ? {} : viewOf(snapshot).of(group);
  const why = (pod && startTrouble(pod)) ?? "its processes do not report to the database";
  const message = `Pod ${name} is one of the first of the new specification and does not come back: ${why}. No other pod is updated`;
  const remedy =
    `Look at it (kubectl describe pod ${name}; kubectl logs ${name} -c foundationdb). Correct the image or spec.processes.*.podTemplate, ` +
    "or take it back: then the pod is made again.";
  return hold("CanaryFailed", message, remedy, 15_000);
}

function membersOf(
  snapshot: Snapshot,
  draft: Draft,
  updates: readonly PodUpdate[],
  status: DatabaseStatus,
): CanaryMember[] {
  const processes = processesByInstance(snapshot, status);
  const old = new Set(updates.map(({ group }) => group.processGroupID));
  const began = new Map<string, number>();
  for (const { group } of updates) {
    const sinceSeconds = conditionOf(group, "IncorrectPodSpec")?.timestamp;
    if (sinceSeconds === undefined) continue;
    const known = began.get(group.processClass) ?? Infinity;
    began.set(group.processClass, Math.min(known, sinceSeconds));
  }
  const members: CanaryMember[] = [];
  for (const group of draft.groups) {
    const { processGroupID: processGroupId, processClass: settings } = group;
    const beganSeconds = began.get(settings);
    const pod = viewOf(snapshot).of(group).pod;
    if (beganSeconds === undefined || pod === undefined) continue;
    if (hasCondition(group, "Fenced")) continue;
    const base = { processGroupId, settings };
    if (old.has(processGroupId)) members.push({ ...base, state: "old", forMs: 0 });
    else if (!isOutdated(draft, group, pod)) {
      const isReporting = processes.has(processGroupId);
      const member = newMember(snapshot, group, pod, { beganSeconds, isReporting });
      if (member !== undefined) members.push({ ...base, ...member });
    }
  }
  return members;
}

/** One that was away before the change, as for want of a node, says nothing about it. */
function newMember(
  { nowMs }: Snapshot,
  group: ProcessGroup,
  pod: Stored<Pod>,
  { beganSeconds, isReporting }: { beganSeconds: number; isReporting: boolean },
): Pick<CanaryMember, "forMs" | "isHopeless" | "state"> | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  const since = absences.flatMap((type) => conditionOf(group, type)?.timestamp ?? []);
  // Conditions stand still under maintenance.
  if (since.length === 0) return isReporting ? { state: "new", forMs: Infinity } : undefined;
  const sinceSeconds = leastOf(since);
  if (sinceSeconds < beganSeconds) return undefined;
  // A new process group may want for a node whatever its specification.
  const isPlaced = hasReported(group) || !hasCondition(group, "PodPending");
  if (!isPlaced && startTrouble(pod) === undefined) return undefined;
  const forMs = nowMs - sinceSeconds * 1000;
  return {
    state: "away",
    forMs,
    isHopeless: forMs >= troubleMs && startTrouble(pod) !== undefined,
  };
}
