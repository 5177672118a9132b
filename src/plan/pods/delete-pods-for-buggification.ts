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
import { viewOf } from "../view/cluster-view.ts";

const step = "deletePodsForBuggification";

export function deletePodsForBuggification(snapshot: Snapshot, draft: Draft): StepResult {
  const pods: PodOrder[] = [];
  for (const group of draft.groups) {
    if (hasCondition(group, "ResourcesTerminating")) continue;
    const pod = viewOf(snapshot).of(group).pod;
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    if (!isBuggifiedOtherwise(snapshot, draft, group, pod)) continue;
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

function isBuggifiedOtherwise(
  { memory }: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: Stored<Pod>,
): boolean {
  const { spec } = draft.desired.cluster;
  const id = group.processGroupID;
  const live = memory.once(buggificationOf, pod);
  // Nobody asks for it in most clusters.
  if (spec.buggify === undefined) return live.isAny;
  const { crashes } = live;
  if (crashes.some(({ name, isSo }) => isSo !== isCrashLooping(spec, name, id))) return true;
  return live.isUnschedulable !== (spec.buggify.noSchedule ?? []).includes(id);
}

interface Buggification {
  readonly crashes: readonly { readonly name: string; readonly isSo: boolean }[];
  readonly isUnschedulable: boolean;
  readonly isAny: boolean;
}

/** How the pod was made to misbehave. */
function buggificationOf(pod: Stored<Pod>): Buggification {
  const crashes = [mainContainerName, sidecarContainerName].flatMap((name) => {
    const container = pod.spec?.containers.find((each) => each.name === name);
    return container === undefined ? [] : [{ name, isSo: container.args?.[0] === "crash-loop" }];
  });
  const isUnschedulable = hasNoSchedule(pod);
  return { crashes, isUnschedulable, isAny: isUnschedulable || crashes.some(({ isSo }) => isSo) };
}

function hasNoSchedule(pod: Stored<Pod>): boolean {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (required?.nodeSelectorTerms ?? []).some((term) =>
    term.matchExpressions?.some((expression) => expression.key === noScheduleLabel),
  );
}
