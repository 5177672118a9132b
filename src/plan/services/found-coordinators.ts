// Whether a database whose coordinators are known by names, or by addresses of services, is found though the spec wants
// another way by now. Coordinators of other resources count as the status shows them: what one resource makes anew is a small
// part of a database that several share. Rules: spec/plan.md [P114], [P117].
import { routingOf } from "../../api/effective.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { hostOf } from "../../model/address.ts";
import { isAvailable } from "../../model/availability.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { ownTimeMs } from "../view/server-time.ts";

/** The API server writes times in whole seconds. */
const resolutionMs = 1_000;
/** In which a server starts in its pod. */
const startMs = 60_000;

/** A coordinator that leads to a pod of this resource by what the spec may not want any more. */
export interface KnownCoordinator {
  readonly host: string;
  readonly podName: string;
  /** By which the pod shows that it is reached so: its name where it has one, or an address. */
  readonly shownAs: string;
}

/**
 * Whether most of them run as they are known and are reached, or most of all coordinators without them. A status may be older
 * than the loss of the pods, and then says nothing about those that came in their place: what these start with would change if
 * the wish counted already. Where the database was not asked yet, what has begun goes on.
 */
export function areFound(
  snapshot: Snapshot,
  hosts: readonly string[],
  all: readonly KnownCoordinator[],
): boolean {
  const status = databaseStatus(snapshot);
  const isQuorum = status?.client?.coordinators?.quorum_reachable === true;
  const isReached = status === undefined ? hasBegun(snapshot) : isQuorum || isAvailable(status);
  if (!isReached) return false;
  const shown = reachableByHost(status);
  const members = changedCoordinators(snapshot, status) ?? hosts;
  const known = all.filter(({ host }) => members.includes(host));
  if (known.length === 0) return true;
  const proved = provedPods(snapshot);
  const reached = new Set(proved.flatMap((pod) => hostsOf(snapshot, pod)));
  const lost = known.filter(({ shownAs }) => !reached.has(shownAs));
  if (lost.length * 2 < known.length) return true;
  return isServedByOthers({ snapshot, members, shown, proved, lost });
}

/** Which coordinators answer. */
function reachableByHost(status: DatabaseStatus | undefined): ReadonlyMap<string, boolean> {
  const all = status?.client?.coordinators?.coordinators ?? [];
  return new Map(all.map(({ address, reachable }) => [hostOf(address), reachable]));
}

/** After a change of coordinators the database tells them before the connection string of the resource does. */
function changedCoordinators(
  { database, lastDatabaseWriteMs }: Snapshot,
  status: DatabaseStatus | undefined,
): readonly string[] | undefined {
  const told = coordinatorsOf(status?.cluster?.connection_string ?? "").map(hostOf);
  const isNewer = database.kind === "seen" && database.observedMs > lastDatabaseWriteMs;
  return isNewer && told.length > 0 ? told : undefined;
}

/** Pods of which the database has told what became of them. */
function provedPods(snapshot: Snapshot): readonly Stored<Pod>[] {
  const { database, nowMs, pods } = snapshot;
  const provedMs = database.kind === "seen" ? database.observedMs : nowMs - startMs;
  return [...pods.values()].filter(({ status: { startTime } = {} }) => {
    const startedMs = ownTimeMs(snapshot, startTime);
    return startedMs === undefined || startedMs + resolutionMs <= provedMs;
  });
}

interface Losses {
  readonly snapshot: Snapshot;
  /** All coordinators of the database. */
  readonly members: readonly string[];
  readonly shown: ReadonlyMap<string, boolean>;
  readonly proved: readonly Stored<Pod>[];
  readonly lost: readonly KnownCoordinator[];
}

/**
 * A status is believed about the others when it is not older than the losses: it shows them, tells of the pods that run in
 * their place, or it is our own update that takes the pods away, which asked for a budget before.
 */
function isServedByOthers({ snapshot, members, shown, proved, lost }: Losses): boolean {
  const updated = podsInUpdate(snapshot);
  const running = new Set(proved.filter(isRunning).map(({ metadata }) => metadata.name));
  const isKnown = lost.every(
    ({ host, podName }) =>
      updated.has(podName) || running.has(podName) || shown.get(host) === false,
  );
  if (!isKnown) return false;
  const away = new Set(lost.flatMap(({ host, podName }) => (updated.has(podName) ? [host] : [])));
  const serving = members.filter((host) => shown.get(host) === true && !away.has(host));
  return serving.length * 2 > members.length;
}

/** Of which no status shows yet that they are back. */
function podsInUpdate(snapshot: Snapshot): ReadonlySet<string> {
  const updates = snapshot.ledger.filter(({ isUpdate }) => isUpdate);
  const ids = new Set(updates.flatMap(({ processGroupIds }) => processGroupIds));
  const groups = snapshot.cluster.status?.processGroups ?? [];
  const updated = groups.filter((group) => ids.has(group.processGroupID));
  return new Set(updated.map((group) => viewOf(snapshot).of(group).podName));
}

/** A pod is as the spec wants it, in what others may still lack. */
function hasBegun(snapshot: Snapshot): boolean {
  const { definesDnsLocalityFields, publicIpSource, podIpFamily } = routingOf(
    snapshot.cluster.spec,
  );
  return [...snapshot.pods.values()].some((pod) => {
    const { subdomain } = pod.spec ?? {};
    const source = pod.metadata.annotations?.[annotationKeys.publicIpSource] || "pod";
    return (
      (subdomain !== undefined) === definesDnsLocalityFields &&
      source === publicIpSource &&
      (podIpFamily === 0 || shapeOfPod(snapshot, pod).ipFamily === podIpFamily)
    );
  });
}

/** Its addresses, and its name where it has one. */
function hostsOf(snapshot: Snapshot, pod: Stored<Pod>): readonly string[] {
  if (!isRunning(pod)) return [];
  const { hosts } = shapeOfPod(snapshot, pod);
  return pod.spec?.subdomain === undefined ? hosts : [...hosts, pod.metadata.name ?? ""];
}

function isRunning({ metadata, status }: Stored<Pod>): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === "Running";
}
