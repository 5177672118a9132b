// Step updateMetadata: puts back labels and annotations of pods and volume claims. What others added stays.
// Rules: spec/plan.md [P63]-[P65].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { annotationKeys } from "../build/labels.ts";
import { hasCondition } from "../model/process-group.ts";
import type { Action, MetadataPatch } from "./action.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft, StepResult } from "./step.ts";

const step = "updateMetadata";

export function planMetadata(snapshot: Snapshot, draft: Draft): StepResult {
  // While the ConfigMap is about to change, every pod gets a patch soon: notes that can wait travel with it.
  const isPatchComing = draft.actions.some((action) => action.step === "updateConfigMap");
  const actions: Action[] = [];
  for (const group of draft.groups) {
    if (hasCondition(group, "ResourcesTerminating")) continue;
    const podAction = planPod(snapshot, draft, group, isPatchComing);
    if (podAction !== undefined) actions.push(podAction);
    const claimAction = planClaim(snapshot, draft, group);
    if (claimAction !== undefined) actions.push(claimAction);
  }
  return { actions };
}

function planPod(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  isPatchComing: boolean,
): Action | undefined {
  const pod = snapshot.pods.get(draft.desired.podName(group));
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
  const patch = draft.desired.podMetadataPatch(group, pod);
  if (patch === undefined || (isPatchComing && isOnlyNode(patch))) return undefined;
  const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
  const basis = { name, uid, resourceVersion };
  return { type: "patchPod", step, basis, patch, processGroupId: group.processGroupID };
}

function isOnlyNode(patch: MetadataPatch): boolean {
  const keys = Object.keys(patch.annotations ?? {});
  return patch.labels === undefined && keys.length === 1 && keys[0] === annotationKeys.currentNode;
}

function planClaim(snapshot: Snapshot, draft: Draft, group: ProcessGroup): Action | undefined {
  const wanted = draft.desired.pvc(group);
  if (wanted === undefined) return undefined;
  const claim = snapshot.pvcs.get(wanted.object.metadata.name ?? "");
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
  const patch = draft.desired.claimMetadataPatch(group, claim);
  if (patch === undefined) return undefined;
  const { name = "", uid = "", resourceVersion = "" } = claim.metadata;
  const basis = { name, uid, resourceVersion };
  return { type: "patchPvc", step, basis, patch, processGroupId: group.processGroupID };
}
