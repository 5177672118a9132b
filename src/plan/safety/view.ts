// What the checks before a disruptive act look at, and how the parts of it belong together: a process group, its pod,
// its processes in a status, its fault domain. Rules: spec/safety.md [S17], [S18], [S31]-[S36].
import { conditionIn } from "../../kube/condition.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { locksOf } from "../../api/effective.ts";
import type { Node, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { hostOf } from "../../model/address.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { localityKeys, localityOf } from "../../model/locality.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import type { SeenStatus, Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";

export type SafetyView = Pick<
  Snapshot,
  | "nowMs"
  | "serverAheadMs"
  | "cluster"
  | "storedSpec"
  | "pods"
  | "pvcs"
  | "quarantined"
  | "quarantineUsers"
  | "claimsProblem"
  | "disruptionBudgets"
  | "likePods"
  | "nodes"
  | "database"
  | "statuses"
  | "watchedSinceMs"
  | "heardSinceMs"
  | "servedMs"
  | "missingGroups"
  | "histories"
  | "knowledge"
  | "ledger"
  | "lostZones"
  | "lastDatabaseWriteMs"
  | "madeConnectionString"
  | "options"
  | "checks"
  | "memory"
> &
  Partial<Pick<Snapshot, "configMap" | "agentHosts">>;

export function groupsOf(view: Pick<SafetyView, "cluster">): readonly ProcessGroup[] {
  return view.cluster.status?.processGroups ?? [];
}

/** The fault domain that an act on the group is charged to; a group that never reported is its own. */
export function zoneOfGroup(view: SafetyView, group: ProcessGroup): string {
  const { nodeName } = viewOf(view).of(group).pod?.spec ?? {};
  return group.faultDomain || nodeName || group.processGroupID;
}

/** When a process began, on our own clock: somewhere between the two, since a status takes its time. */
export interface Beginning {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** From its uptime alone: clocks of the database are not comparable with ours, nor with each other. */
export function beginningOf(seen: SeenStatus, process: StatusProcess): Beginning | undefined {
  if (process.uptime_seconds === undefined) return undefined;
  const { observedMs, answeredMs = observedMs } = seen;
  const uptimeMs = process.uptime_seconds * 1000;
  return { earliestMs: observedMs - uptimeMs, latestMs: answeredMs - uptimeMs };
}

/** When each process began; of two that report as the same one, the younger. */
export function beginningsOf(
  seen: SeenStatus,
  processes: readonly StatusProcess[],
): ReadonlyMap<string, Beginning> {
  const found = new Map<string, Beginning>();
  for (const process of processes) {
    const beginning = beginningOf(seen, process);
    const key = processKey(process);
    if (beginning === undefined || key === "") continue;
    const known = found.get(key);
    if (known === undefined || known.latestMs < beginning.latestMs) found.set(key, beginning);
  }
  return found;
}

/** What a process keeps over a restart, even one that changes its address. */
export function processKey(process: StatusProcess): string {
  return (
    localityOf(process, localityKeys.process) ||
    localityOf(process, localityKeys.instance) ||
    (process.address ?? "")
  );
}

/** Uptimes are told every few seconds, so two readings of one process may differ by this much. */
export const incarnationToleranceMs = 8_000;

/** Pods without readiness probes count as ready when their containers run. */
export function isPodReady(pod: Stored<Pod>): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase !== "Running") return false;
  const statuses = pod.status.containerStatuses ?? [];
  return statuses.length > 0 && statuses.every((status) => status.ready);
}

export function isNodeReady(node: Stored<Node>): boolean {
  const ready = conditionIn(node.status, "Ready");
  return ready === undefined || ready.status === "True";
}

/**
 * Whether nobody can be behind the address any more: it is that of a process group whose pod is gone, is going or does
 * not run, or nobody has it although all processes of the database are this resource's.
 */
export function knownDeadAddresses(
  view: Pick<SafetyView, "cluster" | "pods" | "memory">,
): (address: string) => boolean {
  // Most statuses miss nobody, so the addresses are gathered when somebody asks.
  let known: ReturnType<typeof knownHosts> | undefined;
  return (address) => {
    known ??= knownHosts(view);
    const host = hostOf(address);
    const isShared = locksOf(view.cluster.spec).isEnabled;
    return !known.alive.has(host) && (known.dead.has(host) || !isShared);
  };
}

function knownHosts(view: Pick<SafetyView, "cluster" | "pods" | "memory">) {
  const alive = new Set<string>();
  const dead = new Set<string>();
  for (const pod of view.pods.values()) {
    const hosts = isPodReady(pod) ? alive : dead;
    for (const host of shapeOfPod(view, pod).hosts) hosts.add(host);
  }
  for (const group of groupsOf(view)) {
    for (const address of group.addresses ?? []) dead.add(hostOf(address));
  }
  return { alive, dead };
}
