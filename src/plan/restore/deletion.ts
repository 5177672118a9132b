// Step deleteRestore: the finalizer while the restore may have to be aborted, and what happens when the resource is deleted:
// an abort, or nothing. Rules: spec/restore.md [RS70]-[RS73].
import { isAborting, isOver, restoreTagOf, wasStarted } from "../../api/effective-restore.ts";
import { abortRestoreCommand } from "../../build/restore-command.ts";
import { isUnderWay } from "../../fdb/restore-layer.ts";
import { backupFinalizer } from "../backup/deletion.ts";
import { isOpenCommand, openWait, runCommand } from "../backup/run-command.ts";
import { unseenWait } from "../backup/unreadable.ts";
import type { NewWait } from "../wait.ts";
import { commandView, hasOwnAgents, lenders, recordOf } from "./facts.ts";
import { nothing } from "./snapshot.ts";
import type { RestoreSnapshot, RestoreStepResult } from "./snapshot.ts";

const step = "deleteRestore";

/** Its own agents go with the resource, so that stays until they are not needed any more. */
export function wantsFinalizer(snapshot: RestoreSnapshot): boolean {
  const { restore } = snapshot;
  return !isOver(restore) && (isAborting(restore.spec) || hasOwnAgents(snapshot));
}

export function deleteRestore(snapshot: RestoreSnapshot): RestoreStepResult {
  const { metadata } = snapshot.restore;
  const isHeld = metadata.finalizers?.includes(backupFinalizer) === true;
  const isWanted = wantsFinalizer(snapshot);
  if (metadata.deletionTimestamp === undefined) {
    if (isHeld === isWanted) return nothing;
    return { actions: [{ type: "setFinalizer", step, isPresent: isWanted }] };
  }
  if (!isHeld) return { stop: true };
  const ending = isWanted ? endOfRestore(snapshot) : undefined;
  if (ending !== undefined) return { ...ending, stop: true };
  return { actions: [{ type: "setFinalizer", step, isPresent: false }], stop: true };
}

/** Undefined when nothing runs any more, or the database is gone. */
function endOfRestore(snapshot: RestoreSnapshot): RestoreStepResult | undefined {
  const { restore, layer, commandPods } = snapshot;
  if (layer.kind === "missing") {
    // A database in which it was started is there, whatever a lost status of the cluster says.
    const isNone = layer.reason === "NotReady" && !wasStarted(restore);
    if (layer.reason === "NoCluster" || isNone) return undefined;
    const name = restore.spec.destinationClusterName;
    return { waits: [unseenWait({ name, field: "spec.destinationClusterName" }, step, layer)] };
  }
  // A start that is under way is waited for: nobody knows before whether there is something to abort.
  const { nowMs, serverAheadMs } = snapshot;
  const isOpen = commandPods.some((pod) => isOpenCommand({ nowMs, serverAheadMs, layer }, pod));
  const record = recordOf(snapshot);
  if (record === undefined || !isUnderWay(record)) {
    return isOpen ? { waits: [openWait(step)] } : undefined;
  }
  if (!isAborting(restore.spec)) return { waits: [keptWait] };
  const [lender] = lenders(snapshot);
  if (lender === undefined) return undefined;
  const command = abortRestoreCommand(lender, restoreTagOf(restore), record.uid);
  return runCommand(commandView(snapshot, lender), step, command);
}

const keptWait: NewWait = {
  step,
  reason: "RestoreRunning",
  message:
    "spec.deletionPolicy is keep, and the restore needs the agents that go with this resource: it goes when the restore has ended",
  remedy: "Nothing: it passes by itself. Set spec.deletionPolicy to abort to end the restore now.",
  retryAfterMs: 30_000,
};
