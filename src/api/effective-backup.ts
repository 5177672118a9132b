// The values that hold for a backup where its spec says nothing.
import { durationMs } from "../model/duration.ts";
import type { BackupSpec } from "./backup.ts";

export function agentCountOf({ agentCount }: BackupSpec): number {
  return agentCount ?? 2;
}

/** An absent type means the unified image; the API server itself fills in the split one. */
export function isUnifiedBackup({ imageType }: BackupSpec): boolean {
  return (imageType ?? "unified") === "unified";
}

export function tagOf({ tag }: BackupSpec): string {
  return tag || "default";
}

export function snapshotSecondsOf({ snapshotPeriodSeconds }: BackupSpec): number {
  return snapshotPeriodSeconds ?? 864_000;
}

export function isContinuous({ backupMode }: BackupSpec): boolean {
  return (backupMode ?? "continuous") === "continuous";
}

/** The operator runs the agents and leaves the backup to others. */
export function isUnmanaged({ backupType }: BackupSpec): boolean {
  return backupType === "unmanaged";
}

export function deletionPolicyOf(spec: BackupSpec): "noop" | "stop" | "cleanup" {
  return isUnmanaged(spec) ? "noop" : (spec.deletionPolicy ?? "noop");
}

export function lagAlarmOf({ lagAlarm }: BackupSpec): string {
  return lagAlarm ?? "10m";
}

export function lagAlarmMsOf(spec: BackupSpec): number {
  return durationMs(lagAlarmOf(spec)) ?? 600_000;
}

export function timeZoneOf({ timeZone }: { readonly timeZone?: string }): string {
  return timeZone || "UTC";
}

/** How long a drill may take. */
export function drillDeadlineOf({ deadline }: NonNullable<BackupSpec["verification"]>): string {
  return deadline ?? "6h";
}

export function drillDeadlineMsOf(verification: NonNullable<BackupSpec["verification"]>): number {
  return durationMs(drillDeadlineOf(verification)) ?? 21_600_000;
}

export interface Retention {
  readonly restorableForMs: number;
  readonly intervalMs: number;
}

/** Undefined when everything is kept. */
export function retentionOf({ retention }: BackupSpec): Retention | undefined {
  const restorableForMs = durationMs(retention?.restorableFor);
  if (restorableForMs === undefined) return undefined;
  return { restorableForMs, intervalMs: durationMs(retention?.interval) ?? 86_400_000 };
}
