// Step addPVCs: a volume claim for every process group that keeps data. A claim that exists is never changed
// here, and one that held data is not made again: an empty volume under its name would pass for it.
// Rules: spec/plan.md [P46], [P98], spec/safety.md [S106].
import { annotationKeys } from "../../build/labels.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isReadyForRemoval } from "../../model/process-group.ts";
import type { Action } from "../action.ts";
import { volumeProblem } from "../safety/volumes.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { layoutOfNewClaim } from "../view/disk-layout.ts";
import { isReserved } from "../view/reserved-ids.ts";

type Claim = Stored<PersistentVolumeClaim>;

export function addPVCs(snapshot: Snapshot, draft: Draft): StepResult {
  const actions: Action[] = [];
  for (const group of draft.groups) {
    if (isReadyForRemoval(group) || volumeProblem(snapshot, group) !== undefined) continue;
    const wanted = draft.desired.pvc(group);
    if (wanted === undefined || snapshot.pvcs.has(wanted.object.metadata.name ?? "")) continue;
    if (isReserved(snapshot, group.processGroupID, group.processClass)) continue;
    const object = withLayout(wanted.object, layoutOfNewClaim(snapshot.cluster.spec, group));
    const processGroupId = group.processGroupID;
    actions.push({ type: "createPvc", step: "addPVCs", object, processGroupId });
  }
  return actions.length === 0 ? nothing : { actions };
}

/** Where data will lie on the volume. Only here is it written. */
function withLayout(object: Claim, layout: string): Claim {
  const annotations = { ...object.metadata.annotations, [annotationKeys.diskLayout]: layout };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
