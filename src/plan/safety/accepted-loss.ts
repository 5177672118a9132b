// A database with one copy of its data is away while a pod of it is made anew. An owner who chose the strategy Delete for
// such a database accepts that: the volume stays, so nothing is lost but time. Rules: spec/safety.md [S88].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isIpAddress, parseAddress } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { isCoordinator } from "./coordinators.ts";
import { downZones } from "./down-zones.ts";
import { zoneOfGroup } from "./view.ts";
import type { SafetyView } from "./view.ts";

/** Whether these process groups may be down for a moment although the database cannot lose them. */
export function isLossAccepted(
  view: SafetyView,
  status: DatabaseStatus,
  groups: readonly ProcessGroup[],
): boolean {
  const mode = status.cluster?.configuration?.redundancy_mode;
  if (mode === undefined || redundancyOf(mode).faultTolerance > 0) return false;
  const { automationOptions, databaseConfiguration } = view.cluster.spec;
  // Who wants more copies has not accepted to live with one: the database is only on its way to them.
  const isOnItsWay = redundancyOf(databaseConfiguration?.redundancy_mode).faultTolerance > 0;
  if (isOnItsWay && automationOptions?.configureDatabase !== false) return false;
  if (automationOptions?.podUpdateStrategy !== "Delete") return false;
  const zones = new Set(groups.map((group) => zoneOfGroup(view, group)));
  if (zones.size > 1 || downZones(view).size > 0) return false;
  return hasNames(view, status) || !groups.some((group) => isCoordinator(view, status, group));
}

/** A coordinator that is known by its address would come back under another one, and nobody would find it. */
export function hasNames(view: SafetyView, status: DatabaseStatus): boolean {
  const text = status.cluster?.connection_string ?? view.cluster.status?.connectionString ?? "";
  return coordinatorsOf(text).every((coordinator) => {
    const address = parseAddress(coordinator);
    return address.ok && !isIpAddress(address.value);
  });
}
