// Coordinators and the acts that could hit them: a coordinator is never removed, and no act may leave less than a
// majority of them at work. Rules: spec/safety.md [S66], [S81].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { dnsNameOf, processesByInstance, processesOfInstance } from "../../model/locality.ts";
import { podNameOf } from "../../model/process-group-id.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { groupProblem } from "./down-zones.ts";
import { groupsOf, podOf } from "./view.ts";
import { hostOf } from "../../model/address.ts";
import type { SafetyView } from "./view.ts";

/** Whether the group serves as a coordinator, by any name under which a client may know it. */
export function isCoordinator(
  view: SafetyView,
  status: DatabaseStatus,
  group: ProcessGroup,
): boolean {
  const processes = processesOfInstance(view, status, group.processGroupID);
  if (processes.some((process) => process.roles?.some(({ role }) => role === "coordinator"))) {
    return true;
  }
  const named = coordinatorHosts(view, status);
  for (const host of hostsOfGroup(view, status, group)) if (named.has(host)) return true;
  return false;
}

/** The same for a process group of any instance, by what its processes report; of our own we know more. */
export function isCoordinatorId(view: SafetyView, status: DatabaseStatus, id: string): boolean {
  const own = view.memory.once(groupsById, groupsOf(view)).get(id);
  if (own !== undefined) return isCoordinator(view, status, own);
  const named = coordinatorHosts(view, status);
  return processesOfInstance(view, status, id).some(
    (process) =>
      process.roles?.some(({ role }) => role === "coordinator") === true ||
      named.has(hostOf(process.address ?? "")) ||
      named.has(dnsNameOf(process)),
  );
}

function groupsById(groups: readonly ProcessGroup[]): ReadonlyMap<string, ProcessGroup> {
  return new Map(groups.map((group) => [group.processGroupID, group]));
}

/** Every process group is compared with the coordinators of a status. */
function coordinatorHosts(view: SafetyView, status: DatabaseStatus): ReadonlySet<string> {
  const hosts = view.memory.once(hostsInStatus, status);
  if (status.cluster?.connection_string !== undefined) return hosts;
  // A status that does not tell the connection string: the one that is stored counts as well.
  return new Set([...hosts, ...view.memory.once(hostsInResource, view.cluster)]);
}

function hostsInStatus({ client, cluster }: DatabaseStatus): ReadonlySet<string> {
  const listed = client?.coordinators?.coordinators ?? [];
  const named = coordinatorsOf(cluster?.connection_string ?? "");
  return new Set([...listed.map(({ address }) => address), ...named].map(hostOf));
}

function hostsInResource({ status }: SafetyView["cluster"]): readonly string[] {
  return coordinatorsOf(status?.connectionString ?? "").map(hostOf);
}

/** Addresses and names that belong to the group: those it has, those it had, and the name of its pod. */
function* hostsOfGroup(
  view: SafetyView,
  status: DatabaseStatus,
  group: ProcessGroup,
): Generator<string> {
  for (const address of group.addresses ?? []) yield hostOf(address);
  const pod = podOf(view, group);
  if (pod !== undefined) for (const ip of shapeOfPod(view, pod).publicIps) yield hostOf(ip);
  for (const process of processesOfInstance(view, status, group.processGroupID)) {
    yield hostOf(process.address ?? "");
    const name = dnsNameOf(process);
    if (name !== "") yield name;
  }
  // A process that does not report is known by the name that the headless service gives its pod.
  const { name: cluster = "", namespace = "" } = view.cluster.metadata;
  const podName = podNameOf(cluster, group.processClass, group.processGroupID);
  const prefix = `${podName}.${cluster}.${namespace}.`;
  for (const host of coordinatorHosts(view, status)) if (host.startsWith(prefix)) yield host;
}

/** Why an act on these groups would leave too few coordinators, as a clause; undefined when it would not. */
export function majorityProblem(
  view: SafetyView,
  status: DatabaseStatus,
  hit: readonly ProcessGroup[],
): string | undefined {
  const listed = status.client?.coordinators?.coordinators ?? [];
  const needed = Math.floor(listed.length / 2) + 1;
  const lost = hostsOfLost(view, status, hit);
  const left = listed.filter(
    ({ address, reachable }) => reachable && !lost.has(hostOf(address)),
  ).length;
  if (left >= needed) return undefined;
  const isHit = listed.some(({ address }) => lost.hit.has(hostOf(address)));
  if (!isHit) return undefined;
  return `only ${left} of ${listed.length} coordinators would be left, and ${needed} are needed`;
}

function hostsOfLost(
  view: SafetyView,
  status: DatabaseStatus,
  hit: readonly ProcessGroup[],
): { has: (host: string) => boolean; hit: ReadonlySet<string> } {
  const inFlight = new Set(view.ledger.flatMap((entry) => entry.processGroupIds));
  const hosts = new Set<string>();
  const processes = processesByInstance(view, status);
  for (const group of groupsOf(view)) {
    const isDown =
      inFlight.has(group.processGroupID) || groupProblem(view, group, processes) !== undefined;
    if (isDown) for (const host of hostsOfGroup(view, status, group)) hosts.add(host);
  }
  const hitHosts = new Set(hit.flatMap((group) => [...hostsOfGroup(view, status, group)]));
  return { has: (host) => hosts.has(host) || hitHosts.has(host), hit: hitHosts };
}
