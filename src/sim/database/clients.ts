// Clients of a database as status lists them: the operator's own, and simulated applications with
// their versions. [FDB32]
import type { ClusterStatus, SupportedVersion } from "../../model/database-status.ts";
import type { Database } from "./database.ts";
import { compareLines, protocolVersion } from "./protocol.ts";

export interface ApplicationClient {
  address: string;
  logGroup: string;
  /** Client libraries it has loaded; the newest one sets what it can speak. */
  versions: readonly string[];
}

export function describeClients(database: Database): NonNullable<ClusterStatus["clients"]> {
  const clients = [...database.clients.values()];
  const byVersion = new Map<string, ApplicationClient[]>();
  for (const client of clients) {
    for (const version of client.versions) {
      const list = byVersion.get(version);
      if (list) list.push(client);
      else byVersion.set(version, [client]);
    }
  }
  const versions = [...byVersion.keys()].toSorted(
    (left, right) => compareLines(left, right) || (left < right ? -1 : 1),
  );
  return {
    count: clients.length,
    supported_versions: versions.map((version) =>
      describeVersion(version, byVersion.get(version) ?? []),
    ),
  };
}

function describeVersion(version: string, clients: readonly ApplicationClient[]): SupportedVersion {
  const newest = clients.filter((client) =>
    client.versions.every((other) => compareLines(other, version) <= 0),
  );
  return {
    client_version: version,
    connected_clients: clients.map(entry),
    count: clients.length,
    max_protocol_clients: newest.map(entry),
    max_protocol_count: newest.length,
    protocol_version: protocolVersion(version),
    source_version: "0".repeat(40),
  };
}

function entry(client: ApplicationClient): { address: string; log_group: string } {
  return { address: client.address, log_group: client.logGroup };
}
