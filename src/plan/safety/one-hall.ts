// Planned work on pods touches one hall at a time: what is down in a hall by our own hand must be back before the next
// hall is touched. It counts only while the database runs in a mode that knows halls. Rules: spec/halls.md [HALL21].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import {
  localityKeys,
  localityOf,
  processesByInstance,
  processesOf,
} from "../../model/locality.ts";
import { hallOf, isMarkedForRemoval } from "../../model/process-group.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { groupsOf, isNodeReady } from "./view.ts";
import type { SafetyView } from "./view.ts";
import { viewOf } from "../view/cluster-view.ts";

type HallKey = "data_hall" | "dcid";

function hallKeyInForce(status: DatabaseStatus): HallKey | undefined {
  return redundancyOf(status.cluster?.configuration?.redundancy_mode).spreadLocality;
}

/** The hall that a process group stands in; "" when the mode in force knows no halls, or nobody can tell. */
export function hallInForce(
  view: Pick<SafetyView, "cluster" | "memory">,
  status: DatabaseStatus,
  group: ProcessGroup,
): string {
  const key = hallKeyInForce(status);
  if (key === undefined) return "";
  const [process] = processesByInstance(view, status).get(group.processGroupID) ?? [];
  const told = process === undefined ? "" : localityOf(process, key);
  if (told !== "") return told;
  return hallSpreadOf(view.cluster.spec)?.key === key ? hallOf(group) : "";
}

export function hallsInForce(view: SafetyView, groups: readonly ProcessGroup[]): string[] {
  if (view.database.kind !== "seen") return [];
  const { status } = view.database;
  const halls = groups.map((group) => hallInForce(view, status, group));
  return [...new Set(halls.filter((hall) => hall !== ""))].sort();
}

/** Why an act on pods of these groups would touch a second hall, as a clause; undefined when it would not. */
export function secondHallProblem(
  view: SafetyView,
  groups: readonly ProcessGroup[],
): string | undefined {
  const touched = hallsInForce(view, groups);
  if (touched.length === 0) return undefined;
  if (touched.length > 1)
    return `it would touch ${touched.length} halls (${touched.join(", ")}) at once`;
  const other = [...busyHalls(view)].find(([hall]) => !touched.includes(hall));
  if (other === undefined) return undefined;
  return `hall ${other[0]} comes before hall ${touched[0]}: ${other[1]}`;
}

/** Halls in which our own work is not over, each with what it is. */
function busyHalls(view: SafetyView): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const note = (hall: string, why: string): void => {
    if (hall !== "" && !found.has(hall)) found.set(hall, why);
  };
  for (const { halls = [], type } of view.ledger) {
    for (const hall of halls) note(hall, `our own act is not over (${type})`);
  }
  if (view.database.kind !== "seen") return found;
  const { status } = view.database;
  for (const group of groupsOf(view)) {
    if (isBeingMadeAnew(view, group)) {
      note(hallInForce(view, status, group), `the pod of ${group.processGroupID} is not back`);
    }
  }
  const key = hallKeyInForce(status);
  const zone = status.cluster?.maintenance_zone ?? "";
  const processes = zone === "" ? [] : view.memory.once(processesOf, status);
  const maintained = processes.find((process) => localityOf(process, localityKeys.zone) === zone);
  if (key !== undefined && maintained !== undefined) {
    note(localityOf(maintained, key), `fault domain ${zone} is under maintenance`);
  }
  return found;
}

/** After a restart of the operator only the pods remember: one that is going, or whose successor has not been made. */
function isBeingMadeAnew(view: SafetyView, group: ProcessGroup): boolean {
  if (!group.faultDomain || isMarkedForRemoval(group)) return false;
  const { pod, node } = viewOf(view).of(group);
  if (pod === undefined) return true;
  if (pod.metadata.deletionTimestamp === undefined) return false;
  return node === undefined || isNodeReady(node);
}
