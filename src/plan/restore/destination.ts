// Step checkDestination: whether the restore may write into its destination at all. FoundationDB refuses a range with keys
// in it and waits for ever at a lock, so both are looked for before anything is started, and again right before.
// Rules: spec/restore.md [RS39]-[RS46].
import { isOver } from "../../api/effective-restore.ts";
import { shownKey, shownRange } from "../../model/key-range.ts";
import { maskedUrl, placeOfUrl } from "../../build/backup-url.ts";
import { commandIdentity, destinationOf } from "../../build/command-pod.ts";
import { commandEnd } from "../backup/command-end.ts";
import { nameOf, wasFirst } from "../backup/facts.ts";
import type { NewWait } from "../wait.ts";
import { pausedWait } from "./agents.ts";
import {
  foreignRecord,
  isBegun,
  isSameDestination,
  layerOf,
  otherUnderWay,
  sourceUrl,
} from "./facts.ts";
import { isUnderWay } from "../../fdb/restore-layer.ts";
import { nothing } from "./snapshot.ts";
import type { RestoreSnapshot, RestoreStepResult } from "./snapshot.ts";

const step = "checkDestination";

export function checkDestination(snapshot: RestoreSnapshot): RestoreStepResult {
  if (isOver(snapshot.restore) || isBegun(snapshot)) return nothing;
  // The step followRestore tells why it cannot be asked.
  if (layerOf(snapshot) === undefined) return { stop: true };
  const refusal = sourceMissing(snapshot) ?? startRefusal(snapshot);
  return refusal === undefined ? nothing : { waits: [refusal], stop: true };
}

function sourceMissing(snapshot: RestoreSnapshot): NewWait | undefined {
  const { restore } = snapshot;
  if (sourceUrl(snapshot) !== "") return undefined;
  const name = restore.spec.fromBackup ?? "";
  return {
    step,
    reason: "RestoreSourceMissing",
    message: `There is no FoundationDBBackup ${name} with a destination in this namespace that this operator looks after`,
    object: `foundationdbbackup/${name}`,
    remedy:
      "Correct spec.fromBackup, or say with spec.blobStoreConfiguration where the backup lies.",
    retryAfterMs: 60_000,
  };
}

/** Why the restore must not be started now; asked again, on what is true then, right before it is. */
export function startRefusal(snapshot: RestoreSnapshot): NewWait | undefined {
  const layer = layerOf(snapshot);
  if (layer === undefined) return undefined;
  return (
    tagTaken(snapshot) ??
    otherRestore(snapshot) ??
    locked(snapshot) ??
    shrinking(snapshot) ??
    occupied(snapshot) ??
    (layer.isPaused ? pausedWait(snapshot, step) : undefined)
  );
}

function tagTaken(snapshot: RestoreSnapshot): NewWait | undefined {
  const record = foreignRecord(snapshot);
  if (record === undefined || !isUnderWay(record)) return undefined;
  return {
    step,
    reason: "RestoreTagInUse",
    message: `A restore from ${maskedUrl(record.url)} that this resource did not start runs under the tag ${record.tag}`,
    remedy: "Wait for its end, or make the resource anew with another spec.tag.",
    retryAfterMs: 30_000,
  };
}

/** FoundationDB does one restore of a database after the other. */
function otherRestore(snapshot: RestoreSnapshot): NewWait | undefined {
  const { restore, others } = snapshot;
  const wait = (who: string): NewWait => ({
    step,
    reason: "RestoreOtherRunning",
    message: `${who} goes into the same database; this one follows`,
    remedy:
      "Nothing: it passes by itself when the other restore has ended. If that does not get on, look at what it waits for.",
    retryAfterMs: 15_000,
  });
  const record = otherUnderWay(snapshot);
  if (record !== undefined) {
    const name = others.find((other) => other.metadata.uid === record.tag);
    return wait(name ? `The restore ${nameOf(name)}` : `The restore of the tag ${record.tag}`);
  }
  const starting = others.find(
    (other) =>
      isSameDestination(other, restore) &&
      other.status?.target !== undefined &&
      other.metadata.deletionTimestamp === undefined &&
      !isOver(other) &&
      wasFirst(other, restore),
  );
  return starting && wait(`The restore ${nameOf(starting)}`);
}

function locked(snapshot: RestoreSnapshot): NewWait | undefined {
  const uid = layerOf(snapshot)?.lockUid;
  if (uid === undefined) return undefined;
  return {
    step,
    reason: "RestoreDatabaseLocked",
    message: `The database is locked by somebody else (${uid}): a restore would wait for ever`,
    remedy: `Find out who has locked it; \`unlock ${uid}\` in fdbcli unlocks it.`,
    retryAfterMs: 30_000,
  };
}

/** What is being deleted may be what the restore needs: it would stand still with the database locked. */
function shrinking(snapshot: RestoreSnapshot): NewWait | undefined {
  const place = placeOfUrl(sourceUrl(snapshot));
  const pod = snapshot.removals.find(
    (each) => placeOfUrl(destinationOf(each)) === place && commandEnd(snapshot, each) === undefined,
  );
  if (pod === undefined) return undefined;
  const { name = "" } = pod.metadata;
  return {
    step,
    reason: "BackupCommandRunning",
    message: `fdbbackup ${commandIdentity(pod).type} deletes data of the backup in pod ${name}: the restore is not started meanwhile`,
    object: `pod/${name}`,
    remedy: "Nothing: it passes by itself; the pod has a deadline of its own.",
    retryAfterMs: 15_000,
  };
}

function occupied(snapshot: RestoreSnapshot): NewWait | undefined {
  const { restore, source } = snapshot;
  const found = layerOf(snapshot)?.occupied;
  if (found === undefined) return undefined;
  const name = restore.spec.destinationClusterName;
  const isSource = source?.spec.clusterName === name;
  const where = `the range ${shownRange(found.range)} is not empty, for example there is the key '${shownKey(found.key)}'`;
  const shared = { step, object: `foundationdbcluster/${name}`, retryAfterMs: 30_000 };
  if (isSource) {
    return {
      ...shared,
      reason: "RestoreIntoSource",
      message: `${name} is the database that the backup is of, and a restore overwrites nothing: ${where}`,
      remedy:
        "Restore into another cluster, set spec.addPrefix to look at the old data beside the new, or clear the range first if its keys are not needed any more.",
    };
  }
  return {
    ...shared,
    reason: "RestoreDestinationNotEmpty",
    message: `A restore overwrites nothing, and in ${name} ${where}`,
    remedy:
      "Restore into an empty cluster, choose other spec.keyRanges or a spec.addPrefix, or clear the range first if its keys are not needed any more.",
  };
}
