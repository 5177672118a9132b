// Step deleteBackup: the finalizer that a deletion policy needs, and what happens when the resource is deleted: nothing, an
// end of the backup, or an end of its data too. It goes on when the cluster is gone first. Rules: spec/backup.md [BK70]-[BK79].
import type { FoundationDBBackup } from "../../api/backup.ts";
import { deletionPolicyOf } from "../../api/effective-backup.ts";
import { deleteCommand, endCommand } from "../../build/backup-command.ts";
import { isBelow, maskedUrl, placeOfUrl, runUrl } from "../../build/backup-url.ts";
import { commandIdentity } from "../../build/command-pod.ts";
import { isTimeMapOwned, ownedTimeMap } from "../../build/backup-time-map.ts";
import type { NewWait } from "../wait.ts";
import { destinationOwner, hasWrittenThere, placeOf, placesOf, runUrlsOf } from "./destination.ts";
import { isOurs, isRunning, layerOf, nameOf, recordOf, wantedUrl } from "./facts.ts";
import { keepText, lastRefusal, lookBeforeRemoval, withWayOut } from "./last-backup.ts";
import { isSuspended } from "./pause.ts";
import { readerOf, readerWait } from "./readers.ts";
import { isGone, removalOfRun } from "./remove-runs.ts";
import { isOpenCommand, lastEnd, openWait, runCommand } from "./run-command.ts";
import { hasData, hasGoneElsewhere } from "./runs.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";
import { unreadableWait } from "./unreadable.ts";

const step = "deleteBackup";

/** The name that the Go operator gives it too. */
export const backupFinalizer = "foundationdb.org/fdb-kubernetes-operator";

const remove: BackupStepResult = {
  actions: [{ type: "setFinalizer", step, isPresent: false }],
  stop: true,
};

export function deleteBackup(snapshot: BackupSnapshot, draft: BackupDraft): BackupStepResult {
  const { metadata, spec } = snapshot.backup;
  const policy = deletionPolicyOf(spec);
  const isHeld = metadata.finalizers?.includes(backupFinalizer) === true;
  if (metadata.deletionTimestamp === undefined) {
    if (isHeld === (policy !== "noop")) return nothing;
    return { actions: [{ type: "setFinalizer", step, isPresent: policy !== "noop" }] };
  }
  // Somebody else holds the resource back: it is as good as gone.
  if (!isHeld) return { stop: true };
  if (policy === "noop") return remove;
  const ending = endOfBackup(snapshot);
  if (ending !== undefined) return { ...ending, stop: true };
  if (isSuspended(snapshot)) {
    return { actions: [{ type: "setPaused", step, isPaused: false }], stop: true };
  }
  return policy === "stop" ? remove : { ...removalOfData(snapshot, draft), stop: true };
}

/** Undefined when the backup does not run, or its database is gone. */
function endOfBackup(snapshot: BackupSnapshot): BackupStepResult | undefined {
  const { backup, layer } = snapshot;
  if (layer.kind === "missing") {
    // Without a database nothing runs. One that this backup has seen is there, whatever a lost status of the cluster says.
    const isNone = layer.reason === "NotReady" && !hasSeenDatabase(backup);
    if (layer.reason === "NoCluster" || isNone) return undefined;
    return { waits: [unreadableWait(snapshot, step, layer)] };
  }
  const record = recordOf(snapshot);
  if (record === undefined || !isRunning(record) || !isOurs(snapshot, record)) {
    // A start that is under way is waited for: nobody knows before whether there is something to end.
    const isStarting = snapshot.commandPods.some(
      (pod) => commandIdentity(pod).type === "start" && isOpenCommand(snapshot, pod),
    );
    return isStarting ? { waits: [openWait(step)] } : undefined;
  }
  return runCommand(snapshot, step, endCommand(backup, "abort", record.uid));
}

function hasSeenDatabase({ status }: FoundationDBBackup): boolean {
  const { backupUID = "", backupDetails, runs = [] } = status ?? {};
  return backupUID !== "" || backupDetails?.url !== undefined || runs.length > 0;
}

function removalOfData(snapshot: BackupSnapshot, draft: BackupDraft): BackupStepResult {
  const { backup } = snapshot;
  // Each run of a schedule has a destination of its own.
  const run = draft.status.runs?.find((each) => hasData(backup, each));
  const url = wantedUrl(snapshot);
  const isDone = url === "" || backup.spec.schedule !== undefined;
  if (run === undefined && isDone) {
    const left = leftElsewhere(snapshot, draft);
    return left === undefined ? withTimeMap(snapshot) : keptData(left, unnamedText);
  }
  if (run === undefined && !hasWrittenThere(snapshot)) return keptData(url, unwrittenText);
  const command = deleteCommand(backup, url, backup.metadata.uid ?? "");
  const end = lastEnd(snapshot, command);
  if (run === undefined && isGone(end)) return withTimeMap(snapshot);
  const refusal = removalRefusal(snapshot);
  if (refusal !== undefined) return { waits: [refusal] };
  const look = lookBeforeRemoval(
    snapshot,
    run === undefined ? url : runUrl(backup, run.backupName),
  );
  if ("result" in look) return look.result;
  const removal =
    run === undefined
      ? runCommand(snapshot, step, command)
      : removalOfRun(snapshot, draft, step, run, []);
  return { ...withWayOut(removal, keepText), reads: look.reads };
}

/** Data of this backup in a place that its spec does not name any more. */
function leftElsewhere({ backup }: BackupSnapshot, { status }: BackupDraft): string | undefined {
  const run = status.runs?.find((each) => hasGoneElsewhere(backup, each));
  if (run !== undefined || backup.spec.schedule !== undefined) return run?.url;
  return status.backupDetails?.url;
}

const unnamedText = "spec.blobStoreConfiguration does not name this place any more";
const unwrittenText = "as far as the database tells, this backup has written nothing there";

/** The map of times stays, too: it belongs to what lies there, or is of an earlier backup of the name. */
function keptData(url: string, why: string): BackupStepResult {
  const message = `Nothing was deleted at ${maskedUrl(url)}: ${why}`;
  return { ...remove, events: [{ type: "Normal", reason: "BackupDataKept", message }] };
}

/** The map of times goes with the resource: it is of no use without the data. */
function withTimeMap({ backup, timeMap }: BackupSnapshot): BackupStepResult {
  if (timeMap === undefined || isTimeMapOwned(timeMap, backup)) return remove;
  const object = ownedTimeMap(timeMap, backup);
  return { actions: [{ type: "updateTimeMap", step, object }], stop: true };
}

/** Why the data must not be deleted; asked again, on what is true then, right before it is. */
export function removalRefusal(snapshot: BackupSnapshot): NewWait | undefined {
  const { backup, restores } = snapshot;
  const owner = destinationOwner(snapshot);
  if (owner !== undefined) return inUseWait(`${owner} writes to the same destination`);
  const below = ownerBelow(snapshot);
  if (below !== undefined) return inUseWait(`that of ${below} lies below it and would go along`);
  const reader = readerOf(restores, [wantedUrl(snapshot), ...runUrlsOf(backup)]);
  if (reader !== undefined) return readerWait(step, reader);
  return lastRefusal(snapshot);
}

function inUseWait(why: string): NewWait {
  return {
    step,
    reason: "BackupDestinationInUse",
    message: `The data is not deleted: ${why}`,
    remedy: "Set spec.deletionPolicy to stop: the data stays, and this resource goes.",
    retryAfterMs: 60_000,
  };
}

/** Whose data lies below that of this backup, for people. */
function ownerBelow(snapshot: BackupSnapshot): string | undefined {
  const { backup } = snapshot;
  const own = backup.spec.schedule === undefined ? [placeOf(backup)] : [];
  const places = [...own, ...runUrlsOf(backup).map(placeOfUrl)];
  const isThere = (place: string): boolean => places.some((outer) => isBelow(place, outer));
  const other = snapshot.others.find((each) => placesOf(each).some(isThere));
  if (other !== undefined) return `the backup ${nameOf(other)}`;
  const writer = layerOf(snapshot)?.otherWriters.find(({ url }) => isThere(placeOfUrl(url)));
  return writer && `a backup of the tag ${writer.tag}`;
}
