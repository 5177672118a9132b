// Step removeCommands: pods of commands that ended are kept for people for a while, the last attempt of each command.
// Rules: spec/backup.md [BK49].
import { commandIdentity } from "../../build/command-pod.ts";
import { basisOf } from "./action.ts";
import type { BackupAction } from "./action.ts";
import { commandEnd } from "./command-end.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import type { BackupStepResult } from "./step.ts";

const step = "removeCommands";
const keptMs = 600_000;

export function planCommandRemoval(snapshot: BackupSnapshot): BackupStepResult {
  const { commandPods, nowMs } = snapshot;
  const actions = commandPods.flatMap((pod): BackupAction[] => {
    const end = commandEnd(snapshot, pod);
    if (end === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    const { purpose } = commandIdentity(pod);
    const isSuperseded = commandPods.some((other) => {
      const each = commandIdentity(other);
      const isLater = each.purpose === purpose && each.attempt > end.attempt;
      return isLater && commandEnd(snapshot, other) !== undefined;
    });
    if (!isSuperseded && nowMs - end.endedMs < keptMs) return [];
    return [{ type: "deletePod", step, basis: basisOf(pod) }];
  });
  return { actions };
}
