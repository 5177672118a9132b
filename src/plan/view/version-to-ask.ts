// With a client of which version a database is asked for its status, and about which pods its silence says something: a
// client reaches nobody who speaks another protocol. Rules: spec/adoption.md [ADO7].
import { isAdopting } from "../../api/adoption.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatVersion, isProtocolCompatible, parseVersion } from "../../model/version.ts";
import type { DatabaseObservation, Snapshot } from "../snapshot.ts";
import { versionOfPod } from "./pod-binaries.ts";

/**
 * The version that runs. Of a database that comes back from its disks nobody knows it, and what is specified by now may
 * be another one than the servers were started with: those are asked first that would be made anew for it.
 */
export function versionToAsk(view: Pick<Snapshot, "cluster" | "pods" | "memory">): string {
  const { spec, status } = view.cluster;
  const running = status?.runningVersion || spec.version;
  const wanted = parseVersion(spec.version);
  if (!isAdopting(view.cluster) || wanted === undefined) return running;
  for (const pod of view.pods.values()) {
    const version = mayServe(pod) ? view.memory.once(versionOfPod, pod) : undefined;
    if (version !== undefined && !isProtocolCompatible(version, wanted))
      return formatVersion(version);
  }
  return running;
}

function mayServe({ metadata, status }: Stored<Pod>): boolean {
  return metadata.deletionTimestamp === undefined && (status?.phase ?? "Pending") !== "Pending";
}

/** Whether servers of the pod would have been seen. Coordinators that answer know all who are part of the database. */
export function isWithinReach(
  view: Pick<Snapshot, "memory">,
  database: DatabaseObservation,
  pod: Stored<Pod>,
): boolean {
  if (database.kind === "missing") return true;
  if (database.status.client?.coordinators?.quorum_reachable === true) return true;
  const asked = parseVersion(database.clientVersion ?? "");
  const version = view.memory.once(versionOfPod, pod);
  return asked === undefined || version === undefined || isProtocolCompatible(asked, version);
}
