// Connection strings whose coordinators are gone: where they are now, and who could take their place. Pure.
// Rules: spec/plugin.md [PL70], [PL73].
import type { FoundationDBCluster } from "../api/cluster.ts";
import { annotationKeys } from "../build/labels.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { formatAddress, hostOf, isIpAddress, parseAddress, processPort } from "../model/address.ts";
import { formatConnectionString, parseConnectionString } from "../model/connection-string.ts";
import type { ConnectionString } from "../model/connection-string.ts";
import type { Parsed } from "../model/parsed.ts";
import { parsed, unparsed } from "../model/parsed.ts";
import { isStateful } from "../model/process-class.ts";
import { podNameOf } from "../model/process-group-id.ts";
import { redundancyForCounts } from "../model/redundancy.ts";

export interface MovedCoordinators {
  readonly connectionString: string;
  /** Each coordinator that has another address now. */
  readonly moves: readonly { readonly from: string; readonly to: string; readonly id: string }[];
  /** Coordinators that belong to no process group of this cluster: they stay as they are. */
  readonly unknown: readonly string[];
}

/** The address that a pod is reached by: of its service where it has one. */
export function publicAddressOf(pod: Stored<Pod> | undefined): string | undefined {
  const given = pod?.metadata.annotations?.[annotationKeys.publicIp];
  return given || pod?.status?.podIP || undefined;
}

/** The connection string with the addresses that the process groups of its coordinators have now. */
export function movedCoordinators(
  cluster: FoundationDBCluster,
  pods: readonly Stored<Pod>[],
): Parsed<MovedCoordinators> {
  const connection = parseConnectionString(cluster.status?.connectionString ?? "");
  if (!connection.ok) return unparsed(`status.connectionString: ${connection.error}`);
  const groups = cluster.status?.processGroups ?? [];
  const podOf = new Map(pods.map((pod) => [pod.metadata.name ?? "", pod]));
  const moves: { from: string; to: string; id: string }[] = [];
  const unknown: string[] = [];
  const unclear: string[] = [];
  const coordinators = connection.value.coordinators.map((text) => {
    const address = parseAddress(text);
    if (!address.ok || !isIpAddress(address.value)) return text;
    const host = address.value.host;
    const [group, ...others] = groups.filter(({ addresses = [] }) => addresses.includes(host));
    if (others.length > 0) {
      // Addresses are given to other pods again: whose coordinator it was cannot be told.
      const ids = [group, ...others].map((each) => each?.processGroupID ?? "");
      unclear.push(`${host} was the address of ${ids.join(" and of ")}`);
      return text;
    }
    if (group === undefined) {
      unknown.push(text);
      return text;
    }
    const name = podNameOf(cluster.metadata.name ?? "", group.processClass, group.processGroupID);
    const now = publicAddressOf(podOf.get(name)) ?? group.addresses?.at(-1) ?? host;
    const to = formatAddress({ ...address.value, host: now });
    if (to !== text) moves.push({ from: text, to, id: group.processGroupID });
    return to;
  });
  if (unclear.length > 0) {
    return unparsed(
      `${unclear.join("; ")}: find the coordinators by their data (coordination-0.fdq) and name them with update connection-string; nothing was changed`,
    );
  }
  return parsed({
    connectionString: formatConnectionString({ ...connection.value, coordinators }),
    moves,
    unknown,
  });
}

export interface LivingCoordinator {
  readonly pod: Stored<Pod>;
  /** Which server of the pod it is. */
  readonly server: number;
}

/**
 * The pods that are coordinators by this connection string. Others may hold the state of an earlier time, when they were
 * coordinators: to go on with it would take back what happened since. Addresses are given to other pods again, so one that
 * another process group has had makes nobody a coordinator.
 */
export function livingCoordinators(
  { metadata, status }: FoundationDBCluster,
  coordinators: readonly string[],
  running: readonly Stored<Pod>[],
): LivingCoordinator[] {
  const holders = (status?.processGroups ?? []).map((group) => ({
    pod: podNameOf(metadata.name ?? "", group.processClass, group.processGroupID),
    hosts: (group.addresses ?? []).map(hostOf),
  }));
  return running.flatMap((pod): LivingCoordinator[] => {
    const { name = "" } = pod.metadata;
    const address = publicAddressOf(pod);
    const isOthers = holders.some(
      (holder) => holder.pod !== name && holder.hosts.includes(address ?? ""),
    );
    for (const text of coordinators) {
      const parsedAddress = parseAddress(text);
      if (!parsedAddress.ok) continue;
      const { host, port } = parsedAddress.value;
      if (host.split(".")[0] !== name && (host !== address || isOthers)) continue;
      return [{ pod, server: Math.max(1, Math.floor((port - processPort(0, true)) / 2)) }];
    }
    return [];
  });
}

/**
 * The connection string with these coordinators, which listen as those before them did: the first server of each pod, and where
 * one is a coordinator already that one, since only it has the state.
 */
export function withCoordinators(
  connection: ConnectionString,
  chosen: readonly Pick<Candidate, "address" | "pod">[],
  places: readonly { readonly pod: string; readonly server: number }[],
): string {
  const serverOf = (pod: string): number => places.find((place) => place.pod === pod)?.server ?? 1;
  const tls = connection.coordinators.some((text) => {
    const address = parseAddress(text);
    return address.ok && address.value.flags.includes("tls");
  });
  const coordinators = chosen.map(
    ({ address, pod }) =>
      `${address.includes(":") ? `[${address}]` : address}:${processPort(serverOf(pod), tls)}${tls ? ":tls" : ""}`,
  );
  return formatConnectionString({ ...connection, coordinators });
}

export interface Candidate {
  readonly id: string;
  readonly pod: string;
  readonly address: string;
  readonly zone: string;
}

/** Process groups that hold data and whose pods run, in the order of their ids. */
export function candidatesOf(
  cluster: FoundationDBCluster,
  running: readonly Stored<Pod>[],
): Candidate[] {
  const name = cluster.metadata.name ?? "";
  return (cluster.status?.processGroups ?? [])
    .filter(({ processClass }) => isStateful(processClass))
    .flatMap((group): Candidate[] => {
      const podName = podNameOf(name, group.processClass, group.processGroupID);
      const pod = running.find(({ metadata }) => metadata.name === podName);
      const address = publicAddressOf(pod);
      if (pod === undefined || address === undefined) return [];
      const zone = group.faultDomain ?? pod.spec?.nodeName ?? podName;
      return [{ id: group.processGroupID, pod: podName, address, zone }];
    })
    .toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

/** As many as the redundancy wants, those that live first, then one a zone as long as there are zones. */
export function chooseCoordinators(
  cluster: FoundationDBCluster,
  candidates: readonly Candidate[],
  survivors: readonly string[],
): Candidate[] {
  const { coordinators } = redundancyForCounts(cluster.spec.databaseConfiguration?.redundancy_mode);
  const chosen = candidates.filter(({ pod }) => survivors.includes(pod)).slice(0, coordinators);
  const rest = candidates.filter(({ pod }) => !survivors.includes(pod));
  for (const isZoneFree of [true, false]) {
    for (const each of rest) {
      if (chosen.length >= coordinators) break;
      const isTaken = chosen.some(({ zone }) => zone === each.zone);
      if (!chosen.includes(each) && !(isZoneFree && isTaken)) chosen.push(each);
    }
  }
  return chosen;
}
