// How exclusions name process groups: by the locality of their id or by their addresses, what of a group is excluded
// already, and which entries of the database's list are the group's own. Rules: spec/removal.md [R30]-[R34], [R72].
import { automationOf } from "../../api/effective.ts";
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Remembering } from "../../env/memory.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { instanceLocality } from "../../model/process-group-id.ts";
import { hasLocalityExclusions, parseVersion } from "../../model/version.ts";
import { hostOf } from "../../model/address.ts";

/** Wanted, and understood by every process of the running version. */
export function usesLocalities(spec: ClusterSpec, runningVersion: string): boolean {
  const version = parseVersion(runningVersion);
  return (
    automationOf(spec).useLocalitiesForExclusion &&
    version !== undefined &&
    hasLocalityExclusions(version)
  );
}

/** What the database lists as excluded. */
export interface Exclusions {
  readonly localities: ReadonlySet<string>;
  /** As listed: an IP address, or one with a port. */
  readonly addresses: ReadonlySet<string>;
  /** The addresses of each host. */
  readonly byHost: ReadonlyMap<string, readonly string[]>;
}

/** Every process group of a large cluster asks. */
export function exclusionsOf({ memory }: Remembering, status: DatabaseStatus): Exclusions {
  return memory.once(exclusionsIn, status);
}

function exclusionsIn(status: DatabaseStatus): Exclusions {
  const servers = status.cluster?.configuration?.excluded_servers ?? [];
  const addresses = new Set(servers.flatMap((server) => server.address ?? []));
  const byHost = new Map<string, string[]>();
  for (const address of addresses) {
    const host = hostOf(address);
    const sharing = byHost.get(host);
    if (sharing === undefined) byHost.set(host, [address]);
    else sharing.push(address);
  }
  return {
    localities: new Set(servers.flatMap((server) => server.locality ?? [])),
    addresses,
    byHost,
  };
}

/** What has to be excluded so that the whole group is; nothing when it is so already, or cannot be named. */
export function missingTargets(
  exclusions: Pick<Exclusions, "localities" | "addresses">,
  group: ProcessGroup,
  byLocality: boolean,
): string[] {
  const locality = instanceLocality(group.processGroupID);
  if (exclusions.localities.has(locality)) return [];
  if (byLocality) return [locality];
  return knownAddresses(group).filter((address) => !exclusions.addresses.has(address));
}

/** Neither a locality nor an address names the group. */
export function isUnnameable(group: ProcessGroup, byLocality: boolean): boolean {
  return !byLocality && knownAddresses(group).length === 0;
}

/** Entries of the list that name this group and nobody else: its locality, and every port of its addresses. */
export function ownExclusions(exclusions: Exclusions, group: ProcessGroup): string[] {
  const locality = instanceLocality(group.processGroupID);
  const hosts = new Set(knownAddresses(group).map(hostOf));
  const addresses = [...hosts].flatMap((host) => exclusions.byHost.get(host) ?? []);
  return [...(exclusions.localities.has(locality) ? [locality] : []), ...addresses.sort()];
}

function knownAddresses(group: ProcessGroup): string[] {
  return (group.addresses ?? []).filter((address) => address !== "");
}

export function hasRole(process: StatusProcess, role: string): boolean {
  return (process.roles ?? []).some((entry) => entry.role === role);
}
