// `backup list` and `restore list`: a row for each resource, with the verdict of `explain`. Pure.
// Rules: spec/plugin.md [VW17].
import type { FoundationDBBackup } from "../../api/backup.ts";
import { tagOf } from "../../api/effective-backup.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import type { Stored } from "../../kube/resource.ts";
import { explainBackup } from "../explain/backup.ts";
import type { BackupPage } from "../explain/backup.ts";
import { explainRestore } from "../explain/restore.ts";
import type { RestorePage } from "../explain/restore.ts";
import { known } from "../known.ts";

type Common = "asOf" | "headline" | "namespace" | "verdict" | "waits";

export interface BackupRow extends Pick<BackupPage, Common | "backup" | "cluster"> {
  readonly tag: string;
  readonly state?: string;
  /** RFC 3339, or a version where the time is not known. */
  readonly restorableFrom?: string;
  readonly restorableTo?: string;
  /** How far the last point that can be restored is behind. */
  readonly behind?: string;
  readonly nextRun?: string;
}

export function backupRow(backup: Stored<FoundationDBBackup>, nowMs: number): BackupRow {
  const page = explainBackup({ backup, pods: undefined, events: undefined, unread: [] }, nowMs);
  const { asOf, headline, namespace, verdict, waits, backup: name, cluster } = page;
  const { state, restorable, lag, schedule, backupDetails } = backup.status ?? {};
  return {
    ...{ asOf, namespace, backup: name, cluster, verdict, headline, waits },
    tag: backupDetails?.tag ?? tagOf(backup.spec),
    ...known({
      state,
      restorableFrom: pointText(restorable?.from),
      restorableTo: pointText(restorable?.to),
      behind: lag,
      nextRun: schedule?.next,
    }),
  };
}

export interface RestoreRow extends Pick<RestorePage, Common | "restore" | "destination"> {
  readonly state?: string;
  readonly percent?: number;
  readonly target?: string;
  readonly startTime?: string;
  readonly endTime?: string;
  /** When the end is to be expected. */
  readonly eta?: string;
}

export function restoreRow(restore: Stored<FoundationDBRestore>, nowMs: number): RestoreRow {
  const page = explainRestore({ restore, pods: undefined, events: undefined, unread: [] }, nowMs);
  const { asOf, headline, namespace, verdict, waits, restore: name, destination } = page;
  const { state, progress, target, startTime, endTime } = restore.status ?? {};
  return {
    ...{ asOf, namespace, restore: name, destination, verdict, headline, waits },
    ...known({ state, target: pointText(target), startTime, endTime, eta: progress?.eta }),
    ...(progress?.percent === undefined ? {} : { percent: progress.percent }),
  };
}

function pointText(
  point: { readonly version?: number; readonly time?: string } | undefined,
): string | undefined {
  return point?.time ?? (point?.version === undefined ? undefined : `version ${point.version}`);
}
