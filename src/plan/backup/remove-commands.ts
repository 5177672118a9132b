// Step removeCommands: pods of commands that ended are kept for people for a while, the last attempt of each command.
// Rules: spec/backup.md [BK45], [BK49].
import { commandIdentity } from "../../build/command-pod.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { ownTimeMs } from "../view/server-time.ts";
import { basisOf } from "./action.ts";
import type { BackupAction } from "./action.ts";
import { commandEnd } from "./command-end.ts";
import type { BackupSnapshot } from "./snapshot.ts";

const step = "removeCommands";
const keptMs = 600_000;
/** The deadline of a pod counts from when a node has taken it: one that finds none would wait for ever. */
const unplacedMs = 300_000;

/** Kept longer where a plan goes by what the command has said. */
export function removeCommands(
  snapshot: Pick<BackupSnapshot, "commandPods" | "nowMs" | "serverAheadMs">,
  wantedMs = 0,
): { actions: BackupAction[] } {
  const { commandPods, nowMs } = snapshot;
  const actions = commandPods.flatMap((pod): BackupAction[] => {
    if (pod.metadata.deletionTimestamp !== undefined) return [];
    const end = commandEnd(snapshot, pod);
    if (end === undefined) {
      return isUnplaced(snapshot, pod) ? [{ type: "deletePod", step, basis: basisOf(pod) }] : [];
    }
    const { purpose } = commandIdentity(pod);
    const isSuperseded = commandPods.some((other) => {
      const each = commandIdentity(other);
      const isLater = each.purpose === purpose && each.attempt > end.attempt;
      return isLater && commandEnd(snapshot, other) !== undefined;
    });
    if (!isSuperseded && nowMs - end.endedMs < Math.max(keptMs, wantedMs)) return [];
    return [{ type: "deletePod", step, basis: basisOf(pod) }];
  });
  return { actions };
}

/** It is made again from the template of that time. A node that takes it meanwhile changes it, which makes the deletion fail. */
function isUnplaced(
  snapshot: Pick<BackupSnapshot, "nowMs" | "serverAheadMs">,
  { metadata, status }: Stored<Pod>,
): boolean {
  const madeMs = ownTimeMs(snapshot, metadata.creationTimestamp) ?? snapshot.nowMs;
  return status?.startTime === undefined && snapshot.nowMs - madeMs >= unplacedMs;
}
