// Coordinators and the acts that could hit them: a coordinator is never removed, and no act may leave less than a
// majority of them at work. Rules: spec/safety.md [S66], [S81].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { coordinatorsOf } from "../../model/connection-string.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { dnsNameOf, processesByInstance, processesOfInstance } from "../../model/locality.ts";
import { groupProblem } from "./down-zones.ts";
import { groupsOf } from "./view.ts";
import { hostOf } from "../../model/address.ts";
import type { SafetyView } from "./view.ts";
import { viewOf } from "../view/cluster-view.ts";

/** Whether the group serves as a coordinator, by any name under which a client may know it. */
export function isCoordinator(
  view: SafetyView,
  status: DatabaseStatus,
  group: ProcessGroup,
): boolean {
  const { database } = view;
  if (database.kind !== "seen" || database.status !== status)
    return coordinates(view, status, group);
  return viewOf(view).of(group).finding(coordinatesNow, view, group);
}

/** Several steps ask it of every process group that is to go. */
function coordinatesNow(view: SafetyView, group: ProcessGroup): boolean {
  return view.database.kind === "seen" && coordinates(view, view.database.status, group);
}

function coordinates(view: SafetyView, status: DatabaseStatus, group: ProcessGroup): boolean {
  const processes = processesOfInstance(view, status, group.processGroupID);
  if (processes.some((process) => process.roles?.some(isCoordinatorRole))) return true;
  const named = coordinatorHosts(view, status);
  const { shape, podName } = viewOf(view).of(group);
  return (
    group.addresses?.some((address) => named.has(hostOf(address))) === true ||
    shape?.hosts.some((host) => named.has(host)) === true ||
    processes.some((process) => isNamed(process, named)) ||
    hostsOfName(view, named, podName).length > 0
  );
}

function isCoordinatorRole({ role }: { readonly role: string }): boolean {
  return role === "coordinator";
}

function isNamed(process: StatusProcess, named: ReadonlySet<string>): boolean {
  const name = dnsNameOf(process);
  return named.has(hostOf(process.address ?? "")) || (name !== "" && named.has(name));
}

/** The same for a process group of any instance, by what its processes report; of our own we know more. */
export function isCoordinatorId(view: SafetyView, status: DatabaseStatus, id: string): boolean {
  const own = view.memory.once(groupsById, groupsOf(view)).get(id);
  if (own !== undefined) return isCoordinator(view, status, own);
  const named = coordinatorHosts(view, status);
  return processesOfInstance(view, status, id).some(
    (process) => process.roles?.some(isCoordinatorRole) === true || isNamed(process, named),
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
export function hostsOfGroup(
  view: SafetyView,
  status: DatabaseStatus,
  group: ProcessGroup,
): string[] {
  const { shape, podName } = viewOf(view).of(group);
  const processes = processesOfInstance(view, status, group.processGroupID);
  return [
    ...(group.addresses ?? []).map(hostOf),
    ...(shape?.hosts ?? []),
    ...processes.map(({ address = "" }) => hostOf(address)),
    ...processes.map(dnsNameOf).filter((name) => name !== ""),
    ...hostsOfName(view, coordinatorHosts(view, status), podName),
  ];
}

/** A process that does not report is known by the name that the headless service gives its pod. */
function hostsOfName(
  { cluster }: SafetyView,
  hosts: ReadonlySet<string>,
  podName: string,
): string[] {
  const { name = "", namespace = "" } = cluster.metadata;
  const prefix = `${podName}.${name}.${namespace}.`;
  return [...hosts].filter((host) => host.startsWith(prefix));
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
  const hitHosts = new Set(hit.flatMap((group) => hostsOfGroup(view, status, group)));
  return { has: (host) => hosts.has(host) || hitHosts.has(host), hit: hitHosts };
}
