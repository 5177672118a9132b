// The connection string as it is known before the database itself has told it. Rules: spec/plan.md [P92], spec/adoption.md [ADO4], [ADO19].
import { isAdopting } from "../../api/adoption.ts";
import { clusterFileKey } from "../../build/config-map.ts";
import { annotationKeys } from "../../build/labels.ts";
import { textsHash } from "../../build/spec-hash.ts";
import { isAvailable } from "../../model/availability.ts";
import { connectionStringIn } from "../../model/connection-string.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";

/** What the pods are told; empty where there is no ConfigMap or nothing in it. */
export function connectionStringInConfigMap({ configMap }: Pick<Snapshot, "configMap">): string {
  return connectionStringIn(configMap?.data?.[clusterFileKey] ?? "");
}

/**
 * The status knows it; the ConfigMap remembers what a lost status forgot, and a person may tell what both have lost. What a
 * person corrects counts first for a database that comes back from its disks and has not been seen, but not what it came
 * back with before its coordinators changed.
 */
export function knownConnectionString({
  cluster,
  configMap,
}: Pick<Snapshot, "cluster" | "configMap">): string {
  const seed = seedOf(cluster);
  const note = configMap?.metadata.annotations?.[annotationKeys.outdatedSeed];
  const isOutdated = note !== undefined && note === noteOf(seed);
  return (
    (isAdopting(cluster) && !isOutdated && seed) ||
    connectionStringIn(cluster.status?.connectionString ?? "") ||
    connectionStringInConfigMap({ configMap }) ||
    seed
  );
}

function seedOf({ spec }: Snapshot["cluster"]): string {
  return connectionStringIn(spec.seedConnectionString ?? "");
}

/** A seed that somebody gives afterwards is another one. */
function noteOf(seed: string): string {
  return textsHash({ seed });
}

/** For the ConfigMap, while the database tells that its coordinators are not those of the seed any more. */
export function outdatedSeedNote(snapshot: Snapshot): Readonly<Record<string, string>> | undefined {
  const { cluster } = snapshot;
  const seed = seedOf(cluster);
  const database = databaseStatus(snapshot);
  if (cluster.spec.adopt === undefined || seed === "" || !isAvailable(database)) return undefined;
  const told = database.cluster?.connection_string ?? "";
  return told === "" || told === seed ? undefined : { [annotationKeys.outdatedSeed]: noteOf(seed) };
}
