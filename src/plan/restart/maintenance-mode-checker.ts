// Step maintenanceModeChecker: ends the maintenance of a fault domain when its storage processes have restarted, and
// keeps the list of process groups under maintenance, which all instances share, free of what is done or forgotten.
// Rules: spec/restart.md [T70]-[T76], spec/maintenance.md [MNT5], [MNT6], [MNT8].
import { isAvailable } from "../../model/availability.ts";
import { automationOf } from "../../api/effective.ts";
import { personsMaximumMs, zoneOfMark } from "../../fdb/maintenance-list.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { parseProcessGroupId } from "../../model/process-group-id.ts";
import type { Action } from "../action.ts";
import { calmRemedy, heldWait, hold, isHold, sentence } from "../hold.ts";
import { evidenceOf, needsLock } from "../safety/act-evidence.ts";
import { generationsProblem, performanceProblem } from "../safety/common-checks.ts";
import { personsMaintenance } from "../safety/persons-maintenance.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { nameList } from "../wait.ts";

const step = "maintenanceModeChecker";
/** A status takes a moment to be made, and entries are whole seconds. */
const clockToleranceMs = 2_000;

export function maintenanceModeChecker(snapshot: Snapshot, draft: Draft): StepResult {
  const { resets } = automationOf(snapshot.cluster.spec).maintenanceMode;
  const status = databaseStatus(snapshot);
  if (!draft.status.configured || !isAvailable(status)) {
    return nothing;
  }
  const zone = status.cluster?.maintenance_zone ?? "";
  const list = snapshot.knowledge.maintenanceList;
  const questions = [{ type: "maintenanceList" as const }];
  const person = personsMaintenance(snapshot);
  const marks = [...(list?.entries.keys() ?? [])].filter((id) => zoneOfMark(id) !== undefined);
  // Only what a person began is every operator's business.
  const isMarked = draft.facts.maintenanceMarked !== undefined;
  if (!resets && person === undefined && (zone !== "" || !isMarked)) return nothing;
  // A list from before our own last act would not show what that act put into it.
  if (list === undefined || list.observedMs <= snapshot.lastDatabaseWriteMs) return { questions };
  if (list.entries.size === 0 && zone === "") return nothing;
  const entries = new Map([...list.entries].filter(([id]) => zoneOfMark(id) === undefined));
  if (person !== undefined) {
    const findings = maintenanceFindings(lasting(snapshot), draft, status, entries);
    return { ...endOfPersons(snapshot, draft, status, zone, findings), questions };
  }
  const findings = maintenanceFindings(snapshot, draft, status, entries);
  const actions: Action[] = [];
  const { nowMs, options } = snapshot;
  // A person marks a fault domain before its maintenance begins.
  const over = marks.filter(
    (id) => nowMs - (list.entries.get(id) ?? 0) * 1000 > options.maintenanceWaitMs,
  );
  const done = [...findings.finished, ...findings.stale, ...over].sort();
  if (done.length > 0) actions.push({ type: "updateMaintenanceList", step, remove: done });
  if (zone === "") return { actions, questions };
  const end = endOf(snapshot, draft, status, zone, findings.pending);
  return { ...end, actions: [...actions, ...(end.actions ?? [])], questions };
}

/** Whom a person's maintenance waits for is not forgotten while it may last, however short the lists of operators count. */
function lasting(snapshot: Snapshot): Snapshot {
  const { options } = snapshot;
  const maintenanceStaleMs = Math.max(options.maintenanceStaleMs, personsMaximumMs);
  return { ...snapshot, options: { ...options, maintenanceStaleMs } };
}

/**
 * When every storage process that was there at its beginning has started again since. Nothing else ends it: neither an empty
 * list nor that somebody has finished something else. What is listed goes when no fault domain is under maintenance any more.
 */
function endOfPersons(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  zone: string,
  { finished, pending }: MaintenanceFindings,
): StepResult {
  if (finished.length > 0) return endOf(snapshot, draft, status, zone, pending);
  const why = pending.length === 0 ? "its time is over" : `${nameList(pending)} have restarted`;
  const message = `A person has fault domain ${zone} under maintenance, until ${why} or the person ends it`;
  return { waits: [{ step, reason: "MaintenanceRunning", message, retryAfterMs: 15_000 }] };
}

function endOf(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  zone: string,
  pending: readonly string[],
): StepResult {
  const what = `Fault domain ${zone} is under maintenance`;
  const wait = (message: string, remedy: string, retryAfterMs: number): StepResult => {
    const held = hold("MaintenanceRunning", message, remedy, retryAfterMs);
    return { waits: [heldWait(step, held, what)] };
  };
  if (pending.length > 0) {
    const message = `It ends when these have restarted: ${nameList(pending)}`;
    return wait(message, "Nothing for a while; then look at their pods.", 5_000);
  }
  const evidence = evidenceOf(snapshot, draft);
  if (isHold(evidence)) return { waits: [heldWait(step, evidence, what)] };
  const danger = generationsProblem(status) ?? performanceProblem(status);
  if (danger !== undefined) return wait(sentence(danger), calmRemedy, 5_000);
  const { evidenceMs } = evidence;
  const action = {
    type: "resetMaintenanceZone" as const,
    step,
    zone,
    evidenceMs,
    needsLock: needsLock(snapshot),
  };
  return { actions: [action] };
}

export interface MaintenanceFindings {
  /** They have restarted since their entry was made. */
  finished: readonly string[];
  /** Entries that nobody will finish any more. */
  stale: readonly string[];
  /** The maintenance goes on for them. */
  pending: readonly string[];
}

export function maintenanceFindings(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  entries: ReadonlyMap<string, number>,
): MaintenanceFindings {
  const finished: string[] = [];
  const stale: string[] = [];
  const pending: string[] = [];
  const observedMs = snapshot.database.kind === "seen" ? snapshot.database.observedMs : 0;
  const reporting = storageProcesses(status, observedMs);
  const { maintenanceStaleMs, maintenanceWaitMs } = snapshot.options;
  const maintained = status.cluster?.maintenance_zone ?? "";
  for (const [id, atSeconds] of [...entries].sort(([left], [right]) => (left < right ? -1 : 1))) {
    const ageMs = snapshot.nowMs - atSeconds * 1000;
    const process = reporting.get(id);
    if (process === undefined) {
      const isForgotten = ageMs > maintenanceStaleMs || isGone(snapshot, draft, id);
      (isForgotten ? stale : pending).push(id);
    } else if (process.startedMs + clockToleranceMs > atSeconds * 1000) {
      finished.push(id);
    } else if (process.zone === maintained) {
      pending.push(id);
    } else if (ageMs > maintenanceStaleMs) {
      stale.push(id);
    } else if (ageMs < maintenanceWaitMs) {
      pending.push(id);
    }
  }
  return { finished, stale, pending };
}

interface StorageProcess {
  startedMs: number;
  zone: string;
}

/** By process group; of several servers in a pod the one that has been running longest counts. */
function storageProcesses(status: DatabaseStatus, nowMs: number): Map<string, StorageProcess> {
  const found = new Map<string, StorageProcess>();
  for (const process of processesOf(status)) {
    const id = localityOf(process, localityKeys.instance);
    const zone = localityOf(process, localityKeys.zone);
    const uptime = process.uptime_seconds;
    if (process.class_type !== "storage" || id === "" || zone === "" || uptime === undefined) {
      continue;
    }
    const startedMs = nowMs - uptime * 1000;
    const known = found.get(id);
    if (known === undefined || startedMs < known.startedMs) found.set(id, { startedMs, zone });
  }
  return found;
}

/** An entry of our own for a storage process group that exists no more. */
function isGone(snapshot: Snapshot, draft: Draft, id: string): boolean {
  const prefix = snapshot.cluster.spec.processGroupIDPrefix ?? "";
  const isOurs = parseProcessGroupId(id)?.prefix === prefix;
  const exists = draft.groups.some(
    (group) => group.processGroupID === id && group.processClass === "storage",
  );
  return isOurs && !exists;
}
