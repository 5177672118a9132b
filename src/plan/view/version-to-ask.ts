// With a client of which version a database is asked for its status, and about which pods its silence says something: a
// client reaches nobody who speaks another protocol. Rules: spec/adoption.md [ADO7], [ADO17].
import { isAdopting } from "../../api/adoption.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import {
  formatVersion,
  isProtocolCompatible,
  oneOfEachProtocol,
  parseVersion,
} from "../../model/version.ts";
import type { DatabaseObservation, Snapshot } from "../snapshot.ts";
import { versionsOfServers } from "./pod-binaries.ts";

/** Whom the database was asked with last, and what came of it. */
export interface LastQuestion {
  readonly version: string;
  readonly latest: DatabaseObservation;
}

/**
 * The version that runs. Of a database that comes back from its disks nobody knows it, and what is specified by now may
 * be another one than the servers were started with: those are asked first that would be made anew for it. Where a pod
 * may run servers of several protocols, the next one is tried when nobody answered.
 */
export function versionToAsk(
  view: Pick<Snapshot, "cluster" | "pods" | "memory">,
  last?: LastQuestion,
): string {
  const { spec, status } = view.cluster;
  const running = status?.runningVersion || spec.version;
  const wanted = parseVersion(spec.version);
  if (!isAdopting(view.cluster) || wanted === undefined) return running;
  const served = [...view.pods.values()]
    .filter(mayServe)
    .map((pod) => versionsOfServers(view, pod));
  const all = oneOfEachProtocol(served.flat());
  const others = all.filter((version) => !isProtocolCompatible(version, wanted));
  const texts = others.map(formatVersion);
  const isDoubtful = served.some(({ length }) => length > 1);
  if (!isDoubtful) return texts[0] ?? running;
  if (others.length < all.length) texts.push(spec.version);
  const place = last === undefined ? -1 : texts.indexOf(last.version);
  if (last === undefined || place < 0) return texts[0] ?? running;
  const next = isSilence(last.latest) ? place + 1 : place;
  return texts[next % texts.length] ?? running;
}

function mayServe({ metadata, status }: Stored<Pod>): boolean {
  return metadata.deletionTimestamp === undefined && (status?.phase ?? "Pending") !== "Pending";
}

/** No coordinator has answered, and nobody is being waited for. */
function isSilence(latest: DatabaseObservation): boolean {
  if (latest.kind === "missing") return latest.reason === "Unreachable";
  return latest.status.client?.coordinators?.quorum_reachable !== true;
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
  if (asked === undefined) return true;
  return versionsOfServers(view, pod).every((version) => isProtocolCompatible(asked, version));
}
