// Step deleteTerminalPods: a pod that ended for good never runs again, so it makes room for its successor.
// Rules: spec/plan.md [P53], spec/safety.md [S100].
import { hasCondition } from "../../model/process-group.ts";
import type { Action, PodOrder } from "../action.ts";
import { volumeProblem } from "../safety/volumes.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft, StepResult } from "../step.ts";
import { nameList } from "../wait.ts";
import { ownTimeMs } from "../view/server-time.ts";
import { viewOf } from "../view/cluster-view.ts";

const step = "deleteTerminalPods";

export function deleteTerminalPods(snapshot: Snapshot, draft: Draft): StepResult {
  const pods: PodOrder[] = [];
  const young: string[] = [];
  let retryAfterMs = Infinity;
  for (const group of draft.groups) {
    if (hasCondition(group, "ResourcesTerminating")) continue;
    const pod = viewOf(snapshot).of(group).pod;
    const phase = pod?.status?.phase;
    if (pod === undefined || (phase !== "Failed" && phase !== "Succeeded")) continue;
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    // It may be the last thing that holds its volume.
    if (volumeProblem(snapshot, group) !== undefined) continue;
    const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
    const ageMs = snapshot.nowMs - (ownTimeMs(snapshot, pod.metadata.creationTimestamp) ?? 0);
    const remainingMs = snapshot.options.terminalPodMinimumAgeMs - ageMs;
    if (remainingMs > 0) {
      young.push(name);
      retryAfterMs = Math.min(retryAfterMs, remainingMs);
      continue;
    }
    const basis = { name, uid, resourceVersion };
    pods.push({ basis, processGroupId: group.processGroupID });
  }
  const actions: Action[] = [];
  if (pods.length > 0) {
    const evidenceMs = snapshot.database.kind === "seen" ? snapshot.database.observedMs : 0;
    const because = "terminal";
    actions.push({ type: "deletePods", step, because, pods, evidenceMs, needsLock: false });
  }
  if (young.length === 0) return { actions };
  const wait = {
    step,
    reason: "PodTerminal" as const,
    message: `Pods that have just ended are left for others to look at first: ${nameList(young)}`,
    retryAfterMs,
  };
  return { actions, waits: [wait] };
}
