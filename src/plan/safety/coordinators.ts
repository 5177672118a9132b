// Coordinators and the acts that could hit them: a coordinator is never removed, and no act may leave less than a
// majority of them at work. Rules: spec/safety.md [S66], [S81].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { oncePer } from "../../env/once-per.ts";
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
  const processes = processesOfInstance(status, group.processGroupID);
  if (processes.some((process) => process.roles?.some(({ role }) => role === "coordinator"))) {
    return true;
  }
  const named = coordinatorHosts(view, status);
  for (const host of hostsOfGroup(view, status, group)) if (named.has(host)) return true;
  return false;
}

/** The same for a process group of any instance, by what its processes report; of our own we know more. */
export function isCoordinatorId(view: SafetyView, status: DatabaseStatus, id: string): boolean {
  const own = byId(groupsOf(view)).get(id);
  if (own !== undefined) return isCoordinator(view, status, own);
  const named = coordinatorHosts(view, status);
  return processesOfInstance(status, id).some(
    (process) =>
      process.roles?.some(({ role }) => role === "coordinator") === true ||
      named.has(hostOf(process.address ?? "")) ||
      named.has(dnsNameOf(process)),
  );
}

const byId = oncePer(
  (groups: readonly ProcessGroup[]): ReadonlyMap<string, ProcessGroup> =>
    new Map(groups.map((group) => [group.processGroupID, group])),
);

/** A status never changes, and every process group is compared with its coordinators. */
const knownHosts = new WeakMap<DatabaseStatus, { text: string; hosts: ReadonlySet<string> }>();

function coordinatorHosts(view: SafetyView, status: DatabaseStatus): ReadonlySet<string> {
  const text = status.cluster?.connection_string ?? view.cluster.status?.connectionString ?? "";
  const known = knownHosts.get(status);
  if (known?.text === text) return known.hosts;
  const listed = status.client?.coordinators?.coordinators ?? [];
  const addresses = [...listed.map(({ address }) => address), ...coordinatorsOf(text)];
  const hosts = new Set(addresses.map(hostOf));
  knownHosts.set(status, { text, hosts });
  return hosts;
}

/** Addresses and names that belong to the group: those it has, those it had, and the name of its pod. */
function* hostsOfGroup(
  view: SafetyView,
  status: DatabaseStatus,
  group: ProcessGroup,
): Generator<string> {
  for (const address of group.addresses ?? []) yield hostOf(address);
  const pod = podOf(view, group);
  if (pod !== undefined) for (const ip of shapeOfPod(pod).publicIps) yield hostOf(ip);
  for (const process of processesOfInstance(status, group.processGroupID)) {
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
  const processes = processesByInstance(status);
  for (const group of groupsOf(view)) {
    const isDown =
      inFlight.has(group.processGroupID) || groupProblem(view, group, processes) !== undefined;
    if (isDown) for (const host of hostsOfGroup(view, status, group)) hosts.add(host);
  }
  const hitHosts = new Set(hit.flatMap((group) => [...hostsOfGroup(view, status, group)]));
  return { has: (host) => hosts.has(host) || hitHosts.has(host), hit: hitHosts };
}
