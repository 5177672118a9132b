// How a deletion of outdated pods is ordered and told. Rules: spec/restart.md [T53], [T55].
import type { DisruptiveAction } from "./action.ts";
import { isNewWait } from "./hold.ts";
import type { Snapshot } from "./snapshot.ts";
import type { PlanEvent, StepResult } from "./step.ts";
import type { PodChoice } from "./update-pods-choice.ts";
import type { PodUpdate } from "./update-pods-selection.ts";
import { nameList } from "./wait.ts";

const step = "updatePods";

type PodDeletion = DisruptiveAction & { type: "deletePods" };

export function deletionOf(
  because: "unstarted" | "early" | "update",
  updates: readonly PodUpdate[],
): Pick<PodDeletion, "because" | "pods" | "step" | "type"> {
  const pods = updates.map(({ group, pod }) => {
    const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
    return { basis: { name, uid, resourceVersion }, processGroupId: group.processGroupID };
  });
  return { type: "deletePods", step, because, pods };
}

export function updatingEvent(
  { updates, isLoss }: Pick<PodChoice, "isLoss" | "updates">,
  where: string,
): PlanEvent {
  const message = `Recreating pods ${where}: ${podNames(updates)}`;
  if (isLoss !== true) return { type: "Normal", reason: "UpdatingPods", message };
  const why = "the database has one copy of its data and podUpdateStrategy is Delete";
  return {
    type: "Warning",
    reason: "UpdatingPods",
    message: `${message}; ${why}: it is away meanwhile`,
  };
}

/** Deletion mode None: people delete pods themselves, and are told which. */
export function leftAlone(snapshot: Snapshot, updates: readonly PodUpdate[]): StepResult {
  const message = `${purposeOf(updates)}, but automationOptions.deletionMode is None`;
  const remedy =
    "Delete them one fault domain at a time, or choose another automationOptions.deletionMode.";
  const isNew = isNewWait(snapshot, step, "PodChangePending");
  return {
    waits: [{ step, reason: "PodChangePending", message, remedy, retryAfterMs: 60_000 }],
    events: isNew ? [{ type: "Normal", reason: "NeedsPodsDeletion", message }] : [],
  };
}

export function purposeOf(updates: readonly PodUpdate[]): string {
  return `Pods were made from an older specification: ${podNames(updates)}`;
}

export function podNames(updates: readonly PodUpdate[]): string {
  return nameList(updates.map(({ pod }) => pod.metadata.name ?? ""));
}
