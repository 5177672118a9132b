// Which process groups an act is about, and which of them the database has to miss until it is over.
// Rules: spec/safety.md [S70]-[S88], [S163].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { processesOfInstance } from "../../model/locality.ts";
import type { DisruptiveAction, RemovalOrder } from "../action.ts";
import { isGoneUnnoticed } from "./unnoticed-loss.ts";
import { groupsOf } from "./view.ts";
import type { SafetyView } from "./view.ts";

/** Process groups whose pods the act takes away, whatever they mean to the database. */
export function touchedGroups(view: SafetyView, action: DisruptiveAction): ProcessGroup[] {
  if (action.type === "removeProcessGroups") return groupsNamed(view, action.groups);
  return chargedGroups(view, action);
}

/** What the act takes down until it is over, for the ledger: fault domains of groups that the database has to miss. */
export function chargedGroups(view: SafetyView, action: DisruptiveAction): ProcessGroup[] {
  if (view.database.kind !== "seen") return [];
  const { status } = view.database;
  if (action.type === "deletePods" || action.type === "fencePods") {
    return groupsNamed(view, action.pods).filter((group) => isServing(view, group, status));
  }
  if (action.type !== "removeProcessGroups") return [];
  return unprovenGroups(view, action.groups, status);
}

/** What goes without a certificate, and the database counts on. */
export function unprovenGroups(
  view: SafetyView,
  orders: readonly RemovalOrder[],
  status: DatabaseStatus,
): ProcessGroup[] {
  const unproven = orders.filter(({ proof }) => proof !== "certificate");
  return groupsNamed(view, unproven).filter(
    (group) => isServing(view, group, status) || isGoneUnnoticed(view, group),
  );
}

export function groupsNamed(
  view: SafetyView,
  orders: readonly { processGroupId: string }[],
): ProcessGroup[] {
  const ids = new Set(orders.map((order) => order.processGroupId));
  return groupsOf(view).filter((group) => ids.has(group.processGroupID));
}

/** Whether the database has something to lose in it: a process reports that is not both excluded and idle. */
export function isServing(view: SafetyView, group: ProcessGroup, status: DatabaseStatus): boolean {
  const processes = processesOfInstance(view, status, group.processGroupID);
  return processes.some((process) => process.excluded !== true || (process.roles ?? []).length > 0);
}
