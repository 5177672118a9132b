// Whether a fault domain is under maintenance because a person said so: then nobody else takes anything away from the database,
// and nobody ends it before all is back. Rules: spec/maintenance.md [MNT6]-[MNT8].
import { personsMark, personsMaximumMs } from "../../fdb/maintenance-list.ts";
import type { DisruptiveAction } from "../action.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import type { SafetyView } from "./view.ts";

export interface PersonsMaintenance {
  readonly zone: string;
  /** Unknown until the list has been read since the maintenance was seen. */
  readonly isKnown: boolean;
}

/** Undefined when there is no maintenance, or it is an operator's. */
export function personsMaintenance(
  view: Pick<SafetyView, "database" | "knowledge" | "nowMs">,
): PersonsMaintenance | undefined {
  const status = view.database.kind === "seen" ? view.database.status : undefined;
  const zone = status?.cluster?.maintenance_zone ?? "";
  if (zone === "") return undefined;
  const list = view.knowledge.maintenanceList;
  if (list === undefined) return { zone, isKnown: false };
  const sinceSeconds = list.entries.get(personsMark(zone));
  if (sinceSeconds === undefined) return undefined;
  const isOld = view.nowMs - sinceSeconds * 1000 > personsMaximumMs;
  return isOld ? undefined : { zone, isKnown: true };
}

export function handsOffRefusal(view: SafetyView, action: DisruptiveAction): Refusal | undefined {
  if (!isPlanned(action)) return undefined;
  const found = personsMaintenance(view);
  if (found === undefined) return undefined;
  return found.isKnown
    ? refusal("MaintenanceRunning", `a person has fault domain ${found.zone} under maintenance`)
    : refusal("EvidenceStale", `it is not known yet whose maintenance of ${found.zone} it is`);
}

/** It takes something away that could as well go later. What all processes have to take part in at once is not stopped half-way. */
function isPlanned(action: DisruptiveAction): boolean {
  if (action.type === "killProcesses") return !action.isUpgrade;
  if (action.type === "deletePods") return action.because === "update";
  return action.type === "fencePods" || action.type === "lowerLimits";
}
