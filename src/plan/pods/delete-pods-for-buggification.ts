// Step deletePodsForBuggification: a pod that should, or should no longer, crash at its start or find no node is made
// anew. People ask for that in tests, so nothing but the guard stands in the way. Rules: spec/restart.md [T60]-[T62],
// spec/safety.md [S100].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isCrashLooping, mainContainerName, sidecarContainerName } from "../../build/normalise.ts";
import { noScheduleLabel } from "../../build/pod-affinity.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { hasCondition } from "../../model/process-group.ts";
import type { PodOrder } from "../action.ts";
import { volumeProblem } from "../safety/volumes.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { nameList } from "../wait.ts";

const step = "deletePodsForBuggification";

export function deletePodsForBuggification(snapshot: Snapshot, draft: Draft): StepResult {
  const pods: PodOrder[] = [];
  for (const group of draft.groups) {
    if (hasCondition(group, "ResourcesTerminating")) continue;
    const pod = snapshot.pods.get(draft.desired.podName(group));
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    if (!isBuggifiedOtherwise(draft, group, pod)) continue;
    if (volumeProblem(snapshot, group) !== undefined) continue;
    const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
    pods.push({ basis: { name, uid, resourceVersion }, processGroupId: group.processGroupID });
  }
  if (pods.length === 0) return nothing;
  const evidenceMs = snapshot.database.kind === "seen" ? snapshot.database.observedMs : 0;
  const message = `Recreating pods for buggification: ${nameList(pods.map(({ basis }) => basis.name))}`;
  return {
    actions: [{ type: "deletePods", step, because: "buggify", pods, evidenceMs, needsLock: false }],
    events: [{ type: "Normal", reason: "UpdatingPods", message }],
  };
}

function isBuggifiedOtherwise(draft: Draft, group: ProcessGroup, pod: Stored<Pod>): boolean {
  const { spec } = draft.desired.cluster;
  const id = group.processGroupID;
  for (const name of [mainContainerName, sidecarContainerName]) {
    const container = pod.spec?.containers.find((each) => each.name === name);
    if (container === undefined) continue;
    const crashes = container.args?.[0] === "crash-loop";
    if (crashes !== isCrashLooping(spec, name, id)) return true;
  }
  return hasNoSchedule(pod) !== (spec.buggify?.noSchedule ?? []).includes(id);
}

function hasNoSchedule(pod: Stored<Pod>): boolean {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (required?.nodeSelectorTerms ?? []).some((term) =>
    term.matchExpressions?.some((expression) => expression.key === noScheduleLabel),
  );
}
