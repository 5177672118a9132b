// Whether the database that answers is the one of this resource. A connection string that was edited by hand, or restored from
// a copy of another resource, leads to a database which serves and knows none of our processes: they would all seem to have
// failed, and that database would gladly confirm that it does not need them. So its answers count as none.
// Rules: spec/safety.md [S150].
import { isAvailable } from "../../model/availability.ts";
import { isAdopting } from "../../api/adoption.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isNameOfService } from "../../build/pod-environment.ts";
import type { Memory } from "../../env/memory.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { incompatibleHosts } from "../../model/incompatible-hosts.ts";
import { processesOf } from "../../model/locality.ts";
import { isStateful } from "../../model/process-class.ts";
import { hasReported } from "../../model/process-group.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { ownTimeMs } from "../view/server-time.ts";
import type { DatabaseObservation } from "../snapshot.ts";
import { isPodReady, groupsOf } from "./view.ts";
import { hostOf } from "../../model/address.ts";
import type { SafetyView } from "./view.ts";
import { viewOf } from "../view/cluster-view.ts";

export type ForeignView = Pick<
  SafetyView,
  "nowMs" | "serverAheadMs" | "cluster" | "pods" | "memory"
>;

/** By then a server that was started with its pod has found its database. */
const settledMs = 60_000;

/** The observation, or that there is none of our own database. */
export function ownObservation(
  view: ForeignView,
  observation: DatabaseObservation,
): DatabaseObservation {
  if (observation.kind === "missing") return observation;
  const message = foreignProblem(view, observation.status);
  if (message === undefined) return observation;
  return { kind: "missing", reason: "Foreign", message, sinceMs: observation.observedMs };
}

/** Why the database is not that of this resource, as a clause; undefined when it is, or when nothing speaks against it. */
export function foreignProblem(view: ForeignView, status: DatabaseStatus): string | undefined {
  if (isAdopting(view.cluster)) return adoptedProblem(view, status);
  if (view.cluster.status?.configured !== true || status.unreadable !== undefined) return undefined;
  if (!isAvailable(status)) return undefined;
  // Asked of every status: one process of ours that is known settles it.
  if (isKnown(view, knownHosts(view, status))) return undefined;
  const running = runningGroups(view);
  if (running.length === 0) return undefined;
  const ids = running.map(({ processGroupID }) => processGroupID);
  return (
    "the connection string leads to a database that has none of the processes of this resource, " +
    `although their pods run (${ids[0]}${ids.length === 1 ? "" : ` and ${ids.length - 1} more`})`
  );
}

/** A database that serves without any of the disks is not the one that is on them. */
function adoptedProblem(view: ForeignView, status: DatabaseStatus): string | undefined {
  if (!isAvailable(status)) return undefined;
  const hosts = new Set(
    groupsOf(view)
      .filter(({ processClass }) => isStateful(processClass))
      .flatMap((group) => viewOf(view).of(group).shape?.hosts ?? []),
  );
  const processes = view.memory.once(processesOf, status);
  if (processes.some(({ address = "" }) => hosts.has(hostOf(address)))) return undefined;
  return "the connection string leads to a database that serves without the volumes that spec.adopt names";
}

/** Whoever takes part in the database, is one of its coordinators, or tries to with a protocol that it does not speak. */
function* knownHosts({ memory }: ForeignView, status: DatabaseStatus): Generator<string> {
  for (const { address = "" } of memory.once(processesOf, status)) yield hostOf(address);
  for (const { address } of status.client?.coordinators?.coordinators ?? []) yield hostOf(address);
  yield* incompatibleHosts(status, undefined);
}

function isKnown(view: ForeignView, known: Iterable<string>): boolean {
  const own = view.memory.once(hostsOfPods, view.pods);
  for (const host of known) {
    if (own.has(host) || isNameOfService(view.cluster, host)) return true;
  }
  return false;
}

/** They are the same in many statuses. */
function hostsOfPods(pods: ForeignView["pods"], memory: Memory): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const pod of pods.values()) {
    for (const host of shapeOfPod({ memory }, pod).hosts) hosts.add(host);
  }
  return hosts;
}

/** Process groups that were part of our database and whose pods serve for long; those that keep data where there are any. */
function runningGroups(view: ForeignView): ProcessGroup[] {
  const found = groupsOf(view).filter((group) => hasReported(group) && isSettled(view, group));
  const stateful = found.filter(({ processClass }) => isStateful(processClass));
  return stateful.length > 0 ? stateful : found;
}

function isSettled(view: ForeignView, group: ProcessGroup): boolean {
  const pod = viewOf(view).of(group).pod;
  if (pod === undefined || !isPodReady(pod)) return false;
  const startedMs = ownTimeMs(view, pod.status?.startTime ?? pod.metadata.creationTimestamp);
  return startedMs !== undefined && view.nowMs - startedMs > settledMs;
}
