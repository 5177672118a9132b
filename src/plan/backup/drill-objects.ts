// Step removeDrills: clusters, restores and pods that no drill needs any more go, whatever became of it: the drill has its
// verdict, the backup is being deleted, or nobody wants drills any more. Rules: spec/backup.md [BK170].
import type { Drill } from "../../api/backup.ts";
import { drillLabel } from "../../build/drill.ts";
import type { ObjectMeta } from "../../kube/object.ts";
import type { NewWait } from "../wait.ts";
import { basisOf } from "./action.ts";
import type { BackupAction } from "./action.ts";
import type { BackupSnapshot, DrillObjects } from "./snapshot.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";

const step = "removeDrills";
/** Of all that a drill makes. */
export const drillStep = "verifyBackup";

export function removeDrills(
  { drillObjects }: Pick<BackupSnapshot, "drillObjects">,
  { status }: Pick<BackupDraft, "status">,
): BackupStepResult {
  const { drill } = status;
  const isWanted = ({ metadata }: Named): boolean =>
    drill !== undefined && drill.phase !== "Removing" && isOf(drill, metadata);
  return {
    actions: removalOf(drillObjects, isWanted),
    waits: drill?.phase === "Removing" ? [removingWait(drill)] : [],
  };
}

interface Named {
  readonly metadata: ObjectMeta;
}

/** Whatever is not wanted and is not on its way out. */
export function removalOf(
  { clusters, restores, pods }: DrillObjects,
  isWanted: (object: Named) => boolean,
): BackupAction[] {
  const surplus = <T extends Named>(objects: readonly T[]): T[] =>
    objects.filter(
      (object) => object.metadata.deletionTimestamp === undefined && !isWanted(object),
    );
  return [
    ...surplus(pods).map((pod) => ({ type: "deletePod" as const, step, basis: basisOf(pod) })),
    ...surplus(restores).map((restore) => ({
      ...{ type: "deleteRestore" as const, step },
      basis: basisOf(restore),
    })),
    ...surplus(clusters).map((cluster) => ({
      ...{ type: "deleteCluster" as const, step },
      basis: basisOf(cluster),
    })),
  ];
}

export function isOf({ name }: Pick<Drill, "name">, { labels }: ObjectMeta): boolean {
  return labels?.[drillLabel] === name;
}

/** Something of a drill is still there. */
export function isAnythingLeft({ clusters, restores, pods }: DrillObjects): boolean {
  return clusters.length + restores.length + pods.length > 0;
}

function removingWait({ name, time }: Drill): NewWait {
  return {
    step,
    reason: "BackupDrillRunning",
    message: `The drill of ${time} has ended, and what it has made is being removed`,
    object: `foundationdbcluster/${name}`,
    remedy: `Nothing: it passes by itself. If it lasts, look for finalizers on the cluster and the restore ${name}.`,
    retryAfterMs: 15_000,
  };
}
