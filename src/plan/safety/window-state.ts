// Whether a maintenance window is open now, and when the next one opens. Rules: spec/windows.md [WIN1], [WIN2], [WIN11].
import type { ClusterSpec } from "../../api/cluster.ts";
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

const open: WindowState = { kind: "open" };

export function windowState(snapshot: Pick<Snapshot, "cluster" | "nowMs" | "memory">): WindowState {
  const state = windowTimesOf(snapshot)?.at(snapshot.nowMs) ?? open;
  return state.kind === "closed" && isUrgent(snapshot.cluster) ? open : state;
}

export function hasWindows(snapshot: Pick<Snapshot, "cluster" | "memory">): boolean {
  return windowTimesOf(snapshot) !== undefined;
}

interface WindowTimes {
  readonly at: (nowMs: number) => WindowState;
}

type WindowSpecs = NonNullable<NonNullable<ClusterSpec["automationOptions"]>["maintenanceWindows"]>;

/** Undefined when there is no window. */
function windowTimesOf({
  cluster,
  memory,
}: Pick<Snapshot, "cluster" | "memory">): WindowTimes | undefined {
  const specs = cluster.spec.automationOptions?.maintenanceWindows ?? [];
  return specs.length === 0 ? undefined : memory.once(readTimes, specs);
}

/**
 * Calendars are dear and every step asks, so an answer is kept for as long as it cannot change: until the window that is open
 * closes, or the next one opens. A clock that is set back asks anew.
 */
function readTimes(maintenanceWindows: WindowSpecs): WindowTimes | undefined {
  const windows = maintenanceWindowsOf({ version: "", automationOptions: { maintenanceWindows } });
  if (windows.length === 0) return undefined;
  let state = open;
  let [fromMs, untilMs] = [Infinity, -Infinity];
  const at = (nowMs: number): WindowState => {
    if (nowMs >= fromMs && nowMs < untilMs) return state;
    const closesMs = openUntil(windows, nowMs);
    const next = closesMs === undefined ? nextOpening(windows, nowMs) : undefined;
    state = closesMs === undefined ? closedUntil(next) : open;
    [fromMs, untilMs] = [nowMs, closesMs ?? next?.atMs ?? nowMs + lookAgainMs];
    return state;
  };
  return { at };
}

/** Where no window opens in years it is looked for again on the next day. */
const lookAgainMs = 86_400_000;

function closedUntil(next: ReturnType<typeof nextOpening>): WindowState {
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
