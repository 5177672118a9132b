// What a person can do about coordinators that cannot be reached: where none of them is a pod of this resource as it is now,
// waiting for the pods helps nobody. Rules: spec/explain.md [E64], spec/hibernation.md [HIB24].
import { hasIp, hostOf } from "../../model/address.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { remedyOf } from "../reasons/registry.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { shapeOfPod } from "../view/pod-shape.ts";

export interface Coordinators {
  clusterName: string;
  connectionString: string;
  /** Those of the pods there are now. */
  podNames: readonly string[];
  podHosts: readonly string[];
  /** The database has been seen through this resource, whose status knows former addresses. */
  wasSeen: boolean;
}

const otherCoordinators =
  "If other coordinators were chosen while this resource was not looked after, put the text of /var/fdb/data/fdb.cluster of one of its pods into status.connectionString (kubectl patch --subresource status).";

const sleepers =
  "Should other resources of the database sleep, wake them first (spec.hibernate): it does not serve without them.";

export function coordinatorsRemedy(
  snapshot: Snapshot,
  draft: Draft,
  database: DatabaseStatus,
): string {
  const remedy = ownRemedy(snapshot, draft, database);
  const isShared = snapshot.cluster.spec.hibernateDespite?.includes("SharedDatabase") === true;
  return isShared ? `${sleepers} ${remedy}` : remedy;
}

function ownRemedy(snapshot: Snapshot, { status }: Draft, { client }: DatabaseStatus): string {
  if (client?.coordinators?.quorum_reachable === true) return remedyOf("DatabaseUnreachable");
  const pods = [...snapshot.pods.values()];
  return remedyForCoordinators({
    clusterName: snapshot.cluster.metadata.name ?? "",
    connectionString: status.connectionString ?? "",
    podNames: pods.map(({ metadata }) => metadata.name ?? ""),
    podHosts: pods.flatMap((pod) => shapeOfPod(snapshot, pod).hosts),
    wasSeen: status.configured === true,
  });
}

export function remedyForCoordinators(input: Coordinators): string {
  const { clusterName, connectionString, podNames, podHosts, wasSeen } = input;
  const usual = remedyOf("DatabaseUnreachable");
  const coordinators = coordinatorsOf(connectionString);
  const isOurs = (coordinator: string): boolean => {
    const host = hostOf(coordinator);
    return podHosts.includes(host) || podNames.includes(host.split(".")[0] ?? "");
  };
  if (podNames.length === 0 || coordinators.some(isOurs)) return usual;
  const texts = [
    usual,
    ...(coordinators.some(hasIp) ? [movedText(clusterName, wasSeen)] : []),
    ...(wasSeen ? [otherCoordinators] : []),
  ];
  return texts.join(" ");
}

/** Pods that are made anew have other addresses; names are found again. */
function movedText(clusterName: string, wasSeen: boolean): string {
  const command = wasSeen
    ? `kubectl fdb fix-coordinator-ips -c ${clusterName} gives them their new ones`
    : `find them by their data and name their new ones with kubectl fdb update connection-string -c ${clusterName}`;
  return `No pod has one of their addresses any more: if the coordinators are pods of this cluster, ${command}.`;
}
