// Clients of the database that could not talk to it after an upgrade. A client counts by the newest protocol that it
// has a library for. Rules: spec/upgrade.md [U10]-[U13].
import { automationOf } from "../../api/effective.ts";
import type { ClusterSpec } from "../../api/cluster.ts";
import { parseAddress } from "../../model/address.ts";
import type { DatabaseStatus, StatusClient } from "../../model/database-status.ts";
import { processesOf } from "../../model/locality.ts";
import { compareVersions, isProtocolCompatible, parseVersion } from "../../model/version.ts";
import type { Version } from "../../model/version.ts";

export interface UnsupportedClient {
  address: string;
  logGroup: string;
  /** The newest client library that it has. */
  version: string;
}

/** Undefined when the status says nothing about clients; sorted otherwise. */
export function unsupportedClients(
  status: DatabaseStatus,
  spec: ClusterSpec,
  target: Version,
  agentHosts: ReadonlySet<string> = new Set(),
): readonly UnsupportedClient[] | undefined {
  const versions = status.cluster?.clients?.supported_versions;
  if (versions === undefined) return undefined;
  const ignoredGroups = new Set(automationOf(spec).ignoreLogGroupsForUpgrade);
  const serverHosts = new Set<string | undefined>(agentHosts);
  for (const { address } of processesOf(status)) serverHosts.add(hostOf(address ?? ""));
  const found: UnsupportedClient[] = [];
  for (const entry of versions) {
    if (entry.protocol_version === "Unknown" || canFollow(entry.client_version, target)) continue;
    for (const client of entry.max_protocol_clients ?? []) {
      if (ignoredGroups.has(client.log_group) || isOnServer(client, serverHosts)) continue;
      const { address, log_group: logGroup } = client;
      found.push({ address, logGroup, version: entry.client_version });
    }
  }
  return found.sort((left, right) => (left.address < right.address ? -1 : 1));
}

function canFollow(clientVersion: string, target: Version): boolean {
  const version = parseVersion(clientVersion);
  if (version === undefined) return false;
  return isProtocolCompatible(version, target) || compareVersions(version, target) >= 0;
}

/** Somebody who runs fdbcli in a pod of the database gets the new one with the pod; agents get theirs with the version of their backup. */
function isOnServer(client: StatusClient, serverHosts: ReadonlySet<string | undefined>): boolean {
  const host = hostOf(client.address);
  return host !== undefined && serverHosts.has(host);
}

function hostOf(address: string): string | undefined {
  const parsed = parseAddress(address);
  return parsed.ok ? parsed.value.host : undefined;
}

export function describeClient({ address, logGroup, version }: UnsupportedClient): string {
  return `${address} (log group ${logGroup === "" ? "unknown" : logGroup}, version ${version})`;
}
