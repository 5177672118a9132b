// Another connection string for a database that nobody reaches: in the status, in the ConfigMap and in the pods. It goes past
// the operator, which cannot help a database that it does not reach. Rules: spec/plugin.md [PL71], [PL72].
import { isAvailable } from "../model/availability.ts";
import { isAdopting } from "../api/adoption.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import { clusterFileKey, configMapName } from "../build/config-map.ts";
import { CommandError } from "../env/command-error.ts";
import { isKubeError } from "../kube/error.ts";
import { connectionStringIn } from "../model/connection-string.ts";
import { configMaps } from "../kube/resource.ts";
import type { Stored } from "../kube/resource.ts";
import { askStatus, clusterFile, podName, runIn, runningPods } from "./pod-commands.ts";
import { readCluster } from "./read-selection.ts";
import type { Session } from "./session.ts";

const attemptsMax = 5;

interface Seen {
  readonly isServing: boolean;
  /** Whether a majority of the coordinators answers; undefined when nobody could be asked. */
  readonly hasQuorum: boolean | undefined;
  /** For people. */
  readonly words: string;
}

/** How the database is, as far as somebody can be asked. */
export async function seenOf(
  session: Session,
  cluster: Stored<FoundationDBCluster>,
): Promise<Seen> {
  const asked = await askStatus(session, cluster, clusterFile);
  if (typeof asked === "string") {
    const words = `nobody could be asked how the database is (${asked})`;
    return { isServing: false, hasQuorum: undefined, words };
  }
  const hasQuorum = asked.status.client?.coordinators?.quorum_reachable;
  if (isAvailable(asked.status)) {
    const words = `the database of ${cluster.metadata.name} serves (asked in ${asked.pod})`;
    return { isServing: true, hasQuorum, words };
  }
  const quorum = hasQuorum === true ? "a majority answers" : "no majority answers";
  const words = `the database does not serve; of its coordinators ${quorum}`;
  return { isServing: false, hasQuorum: hasQuorum === true, words };
}

/** Throws when the database serves. Resolves with what was seen instead. */
export async function mustNotServe(
  session: Session,
  cluster: Stored<FoundationDBCluster>,
  remedy: string,
): Promise<Seen> {
  const seen = await seenOf(session, cluster);
  if (!seen.isServing) return seen;
  throw new CommandError(`${seen.words}: ${remedy}; nothing was changed`);
}

/** Status first, so that the operator does not write the old one into the ConfigMap again. */
export async function storeConnectionString(
  session: Session,
  name: string,
  before: string,
  connectionString: string,
): Promise<void> {
  const { client, namespace } = session;
  const mustNotDiffer = (now: string): void => {
    if (now === connectionString || now === before) return;
    throw new CommandError(
      `somebody else has changed status.connectionString of ${name} to ${now} meanwhile; no pod was told`,
    );
  };
  await retried(async () => {
    const cluster = await readCluster(session, name);
    const { metadata, status, spec } = cluster;
    const now = status?.connectionString ?? "";
    mustNotDiffer(now);
    // Of a database that comes back from its disks the seed counts before everything else.
    const seed = connectionStringIn(spec.seedConnectionString ?? "");
    if (isAdopting(cluster) && seed !== "" && seed !== connectionString) {
      const { resourceVersion } = metadata;
      const body = {
        metadata: { resourceVersion },
        spec: { seedConnectionString: connectionString },
      };
      await client.patch(foundationDbClusters, { namespace, name }, body, { type: "merge" });
    }
  });
  await retried(async () => {
    const { metadata, status } = await readCluster(session, name);
    const now = status?.connectionString ?? "";
    mustNotDiffer(now);
    // The operator may have followed the seed by itself.
    if (now === connectionString) return;
    const body = {
      metadata: { resourceVersion: metadata.resourceVersion },
      status: { connectionString },
    };
    const options = { type: "merge", subresource: "status" } as const;
    await client.patch(foundationDbClusters, { namespace, name }, body, options);
  });
  await retried(async () => {
    const key = { namespace, name: configMapName(name) };
    const map = await client.find(configMaps, key);
    // The operator makes it when it is missing.
    if (map === undefined || map.data?.[clusterFileKey] === connectionString) return;
    const { resourceVersion } = map.metadata;
    const body = {
      metadata: { resourceVersion },
      data: { [clusterFileKey]: connectionString },
    };
    await client.patch(configMaps, key, body, { type: "merge" });
  });
}

async function retried(write: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isKubeError(error, "Conflict") || attempt === attemptsMax) throw error;
    }
  }
}

/** Gives every running pod the connection string and restarts its servers; pods in which that fails are named. */
export async function tellPods(
  session: Session,
  cluster: Stored<FoundationDBCluster>,
  connectionString: string,
): Promise<{ told: string[]; failed: string[] }> {
  const [told, failed]: [string[], string[]] = [[], []];
  const text = Buffer.from(`${connectionString}\n`);
  for (const pod of await runningPods(session, cluster)) {
    const name = podName(pod);
    try {
      const written = await runIn(session, name, ["tee", clusterFile], text);
      // That no fdbserver runs at the moment is no failure: the next one reads the file.
      const ended = await runIn(session, name, ["pkill", "fdbserver"]);
      const isTold = written.exitCode === 0 && ended.exitCode <= 1;
      if (isTold) told.push(name);
      else failed.push(`${name}: ${(written.stderr || ended.stderr).trim()}`);
    } catch (error) {
      if (!isKubeError(error) || error.reason === "Forbidden") throw error;
      failed.push(`${name}: ${error.message}`);
    }
  }
  return { told, failed };
}
