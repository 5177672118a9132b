// Whether a maintenance window is open now, and when the next one opens. Rules: spec/windows.md [WIN1], [WIN2], [WIN11].
import { maintenanceWindowsOf, urgentGeneration } from "../../api/maintenance-windows.ts";
import { localMsOf } from "../../env/time-zone.ts";
import { formatTime } from "../../kube/time.ts";
import { nextOpening, openUntil } from "../../model/maintenance-windows.ts";
import type { MaintenanceWindow } from "../../model/maintenance-windows.ts";
import type { Snapshot } from "../snapshot.ts";

export type WindowState =
  /** No window restricts anything at this moment. */
  | { readonly kind: "open" }
  | { readonly kind: "closed"; readonly opensMs: number | undefined; readonly text: string };

export function windowState({ cluster, nowMs }: Pick<Snapshot, "cluster" | "nowMs">): WindowState {
  const windows = maintenanceWindowsOf(cluster.spec);
  if (windows.length === 0 || openUntil(windows, nowMs) !== undefined) return { kind: "open" };
  if (isUrgent(cluster)) return { kind: "open" };
  const next = nextOpening(windows, nowMs);
  if (next === undefined) return { kind: "closed", opensMs: undefined, text: "no window opens" };
  return { kind: "closed", opensMs: next.atMs, text: openingText(next) };
}

/** A person has said that this generation, and no later one, does not wait. */
function isUrgent({ metadata }: Snapshot["cluster"]): boolean {
  return metadata.annotations?.[urgentGeneration] === String(metadata.generation ?? 0);
}

function openingText({ atMs, timeZone }: Pick<MaintenanceWindow, "timeZone"> & { atMs: number }) {
  const at = `the next one opens at ${formatTime(atMs)}`;
  if (timeZone === "UTC") return at;
  const local = formatTime(localMsOf(timeZone, atMs)).slice(0, 16).replace("T", " ");
  return `${at}, which is ${local} in ${timeZone}`;
}
