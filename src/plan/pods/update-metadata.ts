// Step updateMetadata: puts back labels and annotations of pods and volume claims. What others added stays.
// Rules: spec/plan.md [P63]-[P65].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { hasCondition } from "../../model/process-group.ts";
import type { Action } from "../action.ts";
import { isOnlyNode } from "../view/metadata-check.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";

const step = "updateMetadata";

export function updateMetadata(snapshot: Snapshot, draft: Draft): StepResult {
  const patched = new Set(
    draft.actions.flatMap((action) => (action.type === "patchPod" ? action.basis.name : [])),
  );
  const actions: Action[] = [];
  for (const group of draft.groups) {
    if (hasCondition(group, "ResourcesTerminating")) continue;
    const podAction = planPod(snapshot, draft, group, patched);
    if (podAction !== undefined) actions.push(podAction);
    const claimAction = planClaim(snapshot, draft, group);
    if (claimAction !== undefined) actions.push(claimAction);
  }
  return actions.length === 0 ? nothing : { actions };
}

function planPod(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  patched: ReadonlySet<string>,
): Action | undefined {
  const pod = viewOf(snapshot).of(group).pod;
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
  const patch = draft.desired.podMetadataPatch(group, pod);
  const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
  if (patch === undefined || (isOnlyNode(patch) && !patched.has(name))) return undefined;
  const basis = { name, uid, resourceVersion };
  return { type: "patchPod", step, basis, patch, processGroupId: group.processGroupID };
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
