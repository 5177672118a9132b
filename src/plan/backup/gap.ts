// Step lookBehindGap: a backup that was started again where an earlier one lies leaves a gap in the logs of the store, and what
// FoundationDB's tools then restore depends on their version. So nothing written since counts as restorable before the store
// itself was seen to say so. Rules: spec/backup.md [BK26], [BK27].
import type { BackupStatus } from "../../api/backup.ts";
import { isUnmanaged } from "../../api/effective-backup.ts";
import { maskedUrl } from "../../build/backup-url.ts";
import type { BackupRecord } from "../../fdb/backup-layer.ts";
import { formatTime } from "../../kube/time.ts";
import { operatorTimeMs } from "../view/server-time.ts";
import type { NewWait } from "../wait.ts";
import { ownRecord, wantedUrl } from "./facts.ts";
import type { BackupSnapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { BackupDraft, BackupStepResult } from "./step.ts";
import { lookIntoStore } from "./store-look.ts";

export type Gap = NonNullable<BackupStatus["gap"]>;

const step = "lookBehindGap";
/** The store may come to say more with the next snapshot. */
const lookMs = 3_600_000;

export function isOpenGap(gap: Gap | undefined): gap is Gap {
  return gap !== undefined && gap.closed !== true;
}

/** What is known of a gap once the database was read: a new one, or the one that was known. */
export function gapOf({ backup }: BackupSnapshot, record: BackupRecord): Gap | undefined {
  const { status = {}, spec } = backup;
  const { backupUID = "", gap, restorable, backupDetails } = status;
  // Each run of a schedule has a place of its own.
  if (isUnmanaged(spec) || spec.schedule !== undefined) return undefined;
  const isSamePlace = backupDetails?.url === maskedUrl(record.url);
  if (backupUID !== "" && backupUID !== record.uid && isSamePlace) {
    const before = isOpenGap(gap) ? gap.before : restorable?.to?.version;
    return before === undefined ? undefined : withAfter({ backupUID: record.uid, before }, record);
  }
  return gap?.backupUID === record.uid && isSamePlace ? withAfter(gap, record) : undefined;
}

function withAfter(gap: Gap, { restorableFrom }: BackupRecord): Gap {
  return restorableFrom === undefined ? gap : { ...gap, after: restorableFrom };
}

export function gapText({ before, after }: Gap): string {
  const since = after === undefined ? "" : ` from version ${after} on`;
  return `The backup was started again where an earlier one lies, and the logs in the store have a gap behind version ${before}: what was written since${since} counts as not restorable until the store says that it is`;
}

export function lookBehindGap(
  snapshot: BackupSnapshot,
  { status: { gap } }: BackupDraft,
): BackupStepResult {
  const { nowMs } = snapshot;
  const record = ownRecord(snapshot);
  if (!isOpenGap(gap) || record === undefined) return nothing;
  const wait = gapWait(gap);
  const lookedMs = operatorTimeMs({ nowMs }, gap.looked) ?? 0;
  const isSteady = record.url === wantedUrl(snapshot);
  if (gap.after === undefined || !isSteady || nowMs - lookedMs < lookMs) return { waits: [wait] };
  const look = lookIntoStore(snapshot, {
    step,
    context: `gap ${gap.looked ?? ""}`,
    otherwise: "the gap counts as open",
  });
  if ("result" in look) return { ...look.result, waits: [wait, ...(look.result.waits ?? [])] };
  const closed = (look.description.restorableTo ?? 0) >= gap.after;
  const found: Gap = { ...gap, looked: formatTime(nowMs), ...(closed ? { closed } : {}) };
  return { status: { gap: found }, ...(closed ? {} : { waits: [wait] }) };
}

function gapWait(gap: Gap): NewWait {
  return {
    step,
    reason: "BackupGap",
    message: gapText(gap),
    remedy:
      "Give the backup a spec.blobStoreConfiguration.backupName of its own, so that it begins without a gap. What lies before the gap can be restored with spec.to.version of a restore.",
    retryAfterMs: 300_000,
  };
}
