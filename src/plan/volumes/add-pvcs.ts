// Step addPVCs: a volume claim for every process group that keeps data. A claim that exists is never changed
// here, and one that held data is not made again: an empty volume under its name would pass for it.
// Rules: spec/plan.md [P46], spec/safety.md [S106].
import { isReadyForRemoval } from "../../model/process-group.ts";
import type { Action } from "../action.ts";
import { volumeProblem } from "../safety/volumes.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { isReserved } from "../view/reserved-ids.ts";

export function addPVCs(snapshot: Snapshot, draft: Draft): StepResult {
  const actions: Action[] = [];
  for (const group of draft.groups) {
    if (isReadyForRemoval(group) || volumeProblem(snapshot, group) !== undefined) continue;
    const wanted = draft.desired.pvc(group);
    if (wanted === undefined || snapshot.pvcs.has(wanted.object.metadata.name ?? "")) continue;
    if (isReserved(snapshot, group.processGroupID, group.processClass)) continue;
    const processGroupId = group.processGroupID;
    actions.push({ type: "createPvc", step: "addPVCs", object: wanted.object, processGroupId });
  }
  return actions.length === 0 ? nothing : { actions };
}
