// The clusters of the end-to-end scenarios, what they are waited for, and what must stay of them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { events, persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import { isReconciled } from "../../src/sim/world.ts";
import { operatorNamespace as namespace } from "./installation.ts";
import type { Program } from "./programs.ts";
import type { EndToEnd } from "./scenario.ts";

/** Waits that protect large databases from haste; this one is small. */
export const haste = [
  "--minimum-recovery-time-for-inclusion=1",
  "--minimum-recovery-time-for-exclusion=1",
  "--minimum-uptime-for-configuration-changes=1s",
  "--minimum-uptime-for-coordinator-change-with-missing-process=1s",
  "--minimum-uptime-for-coordinator-change-with-undesired-process=1s",
  "--cli-timeout=5",
  "--leader-election-lease-duration=8s",
  "--leader-election-renew-deadline=6s",
  "--leader-election-retry-period=1s",
];

export function sampleCluster(name: string): FoundationDBCluster & KubeObject {
  const file = path.resolve(import.meta.dirname, "../../examples/cluster.yaml");
  const cluster = parse(readFileSync(file, "utf8")) as FoundationDBCluster & KubeObject;
  return {
    ...cluster,
    metadata: { name, namespace },
    spec: {
      ...cluster.spec,
      minimumUptimeSecondsForBounce: 1,
      processCounts: { storage: 3, log: 3, stateless: 3 },
      automationOptions: { ...cluster.spec.automationOptions, waitBetweenRemovalsSeconds: 0 },
    },
  };
}

/** Resolves when the cluster is as its resource wants it and serves; says what it waits for when that does not come. */
export async function untilReconciled(
  { client, eventually }: EndToEnd,
  name: string,
  what: string,
  operator: Program,
): Promise<void> {
  let seen: FoundationDBCluster | undefined;
  const explain = (): string =>
    [what, JSON.stringify(seen?.status?.blockedBy), ...operator.lines.slice(-10)].join("\n");
  try {
    await eventually(`reconciled after: ${what}`, async () => {
      if (operator.child.exitCode !== null) throw new Error("the operator ended");
      seen = await client.get(foundationDbClusters, { namespace, name });
      const isHealthy = seen.status?.health?.available === true;
      return isReconciled(seen) && isHealthy ? true : undefined;
    });
  } catch (error) {
    throw new Error(explain(), { cause: error });
  }
  const labelSelector = `foundationdb.org/fdb-cluster-name=${name}`;
  const { items } = await client.listAll(pods, { namespace, labelSelector });
  for (const pod of items) assert.equal(pod.status?.phase, "Running", pod.metadata.name);
}

/** The ids of the claims of all storage processes, sorted. */
export async function storageVolumes({ client }: EndToEnd, name: string): Promise<string[]> {
  const labelSelector = `foundationdb.org/fdb-process-class=storage,foundationdb.org/fdb-cluster-name=${name}`;
  const { items } = await client.listAll(persistentVolumeClaims, { namespace, labelSelector });
  return items.map((claim) => claim.metadata.uid ?? "").sort();
}

/** The storage processes kept their volumes; if not, what the operator said about it is part of the error. */
export async function assertSameVolumes(
  world: EndToEnd,
  name: string,
  before: readonly string[],
  what: string,
): Promise<void> {
  const after = await storageVolumes(world, name);
  if (isDeepStrictEqual(after, before)) return;
  const { items } = await world.client.listAll(events, { namespace });
  const said = items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ lastTimestamp, reason, message }) => `${lastTimestamp ?? ""} ${reason}: ${message}`)
    .sort();
  assert.deepEqual(after, before, [`volumes changed: ${what}`, ...said].join("\n"));
}
