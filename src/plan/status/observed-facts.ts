// Which facts hold in this pass, as far as a decision needs to know since when. Rules: spec/plan.md [P92], [P107],
// spec/upgrade.md [U29], [U31], spec/maintenance.md [MNT8].
import { isHibernated } from "../../api/hibernation.ts";
import { zoneOfMark } from "../../fdb/maintenance-list.ts";
import { isConnectionStringLost } from "../config-map/lost-connection-string.ts";
import { datedFacts } from "../facts.ts";
import type { ClusterFacts } from "../facts.ts";
import { isStatusPending } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { StatusFields } from "../step.ts";
import { isUnanswered, upgradeVerdict } from "../upgrade/upgrade-verdict.ts";

export function observedFacts(snapshot: Snapshot, status: StatusFields): ClusterFacts {
  const findings = {
    connectionStringLost: isConnectionStringLost(snapshot, status),
    databaseSilent: isSilentDatabase(snapshot, status),
    clientsIncompatible: areClientsIncompatible(snapshot, status),
    waking: isWaking(snapshot, status),
    maintenanceMarked: isMarked(snapshot),
  };
  return datedFacts(snapshot.facts, findings, snapshot.nowMs);
}

/** Whoever wants it to sleep again meanwhile does not make it one that sleeps. */
function isWaking({ cluster, facts }: Snapshot, { hibernation }: StatusFields): boolean {
  return hibernation !== undefined && (!isHibernated(cluster) || facts.waking !== undefined);
}

/** A person has announced a maintenance, and its mark is still in the list that all operators share. */
function isMarked({ knowledge: { maintenanceList } }: Snapshot): boolean | "unknown" {
  if (maintenanceList === undefined) return "unknown";
  return [...maintenanceList.entries.keys()].some((id) => zoneOfMark(id) !== undefined);
}

/** Before the first answer of this connection nobody knows; a database that was never configured is silent until it speaks. */
function isSilentDatabase(snapshot: Snapshot, status: StatusFields): boolean | "unknown" {
  if ((status.connectionString ?? "") === "") return false;
  if (status.configured === true && isStatusPending(snapshot)) return "unknown";
  return isUnanswered(snapshot);
}

function areClientsIncompatible(snapshot: Snapshot, status: StatusFields): boolean | "unknown" {
  const running = status.runningVersion ?? snapshot.cluster.spec.version;
  const { kind } = upgradeVerdict(snapshot, running);
  return kind === "unknown" || kind === "needed" ? "unknown" : kind === "held";
}
