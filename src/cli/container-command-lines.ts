// The status as containers would give it: processes of this machine run with other paths than their pods ask for, and
// the operator compares command lines. Rules: spec/real-database.md [DB66].
import type { AdminClientFactory } from "../fdb/admin.ts";
import type { DatabaseStatus } from "../model/database-status.ts";
import { throughCalls } from "../sim/faults/admin-calls.ts";

export function withContainerCommandLines(
  factory: AdminClientFactory,
  commandLineInside: (local: string) => string,
): AdminClientFactory {
  return {
    isVersionSupported: (version) => factory.isVersionSupported(version),
    installedVersions: () => factory.installedVersions(),
    open(options) {
      const client = factory.open(options);
      return {
        ...throughCalls(client, (call) => call()),
        status: async (timeoutMs) => seenInside(await client.status(timeoutMs), commandLineInside),
      };
    },
  };
}

function seenInside(status: DatabaseStatus, inside: (local: string) => string): DatabaseStatus {
  const { cluster } = status;
  if (cluster?.processes === undefined) return status;
  const processes = Object.fromEntries(
    Object.entries(cluster.processes).map(([id, process]) => {
      const { command_line: local } = process;
      return [id, local === undefined ? process : { ...process, command_line: inside(local) }];
    }),
  );
  return { ...status, cluster: { ...cluster, processes } };
}
