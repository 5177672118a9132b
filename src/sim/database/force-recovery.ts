// `force_recovery_with_data_loss`: the database goes on in a datacenter that was remote, from what its logs hold; the other
// regions are given up. Rules: spec/database.md [FDB62].
import { mainDatacenter } from "./configuration-check.ts";
import { locate } from "./coordination.ts";
import { isAcceptingCommits, nextChange, trace } from "./database.ts";
import type { Database } from "./database.ts";
import type { Fabric } from "./fabric.ts";
import { parseConnectionString } from "./network-address.ts";
import { beginRecovery } from "./recovery.ts";

/** Resolves when the database accepts commits there; with the words of a refusal otherwise. */
export async function forceRecovery(
  fabric: Fabric,
  connectionString: string,
  datacenter: string,
): Promise<string | undefined> {
  const database = findDatabase(fabric, connectionString);
  if (database === undefined) return "ERROR: The database cannot be reached";
  const { regions } = database.configuration;
  if (!regions.some((region) => mainDatacenter(region)?.id === datacenter)) {
    return `ERROR: There is no region with the datacenter ${datacenter}`;
  }
  takeOver(database, datacenter);
  while (!isAcceptingCommits(database)) await nextChange(database);
  return undefined;
}

function findDatabase(fabric: Fabric, text: string): Database | undefined {
  const connection = parseConnectionString(text);
  if (connection === undefined) return undefined;
  for (const database of fabric.databases) {
    const location = locate(fabric, connection, database.version);
    const isFound = location.kind === "found" && location.databaseUid === database.uid;
    if (isFound && database.isConfigured) return database;
  }
  return undefined;
}

function takeOver(database: Database, datacenter: string): void {
  const { configuration, transaction } = database;
  trace(database, `recovery forced to ${datacenter}`);
  database.configuration = {
    ...configuration,
    usableRegions: 1,
    regions: configuration.regions.map((region) => ({
      ...region,
      datacenters: region.datacenters.map((one) => {
        if (one.satellite === 1) return one;
        return { ...one, priority: one.id === datacenter ? 1 : -1 };
      }),
    })),
  };
  database.distribution.mustRestart = true;
  if (transaction !== undefined && transaction.primaryDatacenter !== datacenter) {
    const { logs } = transaction;
    database.transaction = {
      ...transaction,
      logs: {
        ...{ ...logs, primary: logs.remote, replication: logs.remoteReplication },
        ...{ satellite: [], satelliteReplication: 0, remote: [], remoteReplication: 0 },
      },
    };
  }
  beginRecovery(database, "a recovery was forced");
}
