// Small helpers for worlds in which process groups go.
import { strict as assert } from "node:assert";
import type { ClusterSpec, ProcessGroupStatus } from "../../src/api/cluster.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import type { RequestedCounts } from "../../src/model/process-counts.ts";
import type { Action } from "../../src/plan/action.ts";
import { minuteMs } from "./world-harness.ts";
import type { TestWorld, TestWorldOptions } from "./world-harness.ts";

/** A cluster of this size on as many nodes as it may need. */
export function spreadOver(
  processCounts: RequestedCounts,
  spec: Partial<ClusterSpec> = {},
): TestWorldOptions & { spec: Partial<ClusterSpec> } {
  const databaseConfiguration = { redundancy_mode: "double" } as const;
  return { nodes: 9, spec: { databaseConfiguration, processCounts, ...spec } };
}

export async function groups(
  world: TestWorld,
  processClass?: string,
): Promise<readonly ProcessGroupStatus[]> {
  const { status } = await world.cluster();
  return (status?.processGroups ?? []).filter(
    (group) => processClass === undefined || group.processClass === processClass,
  );
}

export async function classSize(world: TestWorld, processClass: string): Promise<number> {
  const pods = await world.pods(processClass);
  const found = await groups(world, processClass);
  assert.equal(pods.length, found.length, "as many pods as process groups");
  return found.length;
}

/** Recoveries that began so far. */
export function recoveries(world: TestWorld): number {
  return world.world.fdb.truth.databases().flatMap((database) => database.recoveries).length;
}

/** Talks to the database itself, as a person with fdbcli would. */
export async function person<T>(
  world: TestWorld,
  body: (client: AdminClient) => Promise<T>,
): Promise<T> {
  const { status, spec } = await world.cluster();
  const client = world.world.fdb.admin.open({
    name: "person",
    connectionString: status?.connectionString ?? "",
    version: spec.version,
  });
  try {
    return await world.during(body(client), minuteMs, "a command of a person");
  } finally {
    client.close();
  }
}

export function excluded(world: TestWorld): Promise<string[]> {
  return person(world, (client) => client.excluded(10_000));
}

export async function assertNothingExcluded(world: TestWorld): Promise<void> {
  assert.deepEqual(await excluded(world), []);
}

/** Everything that was ever committed has all its copies on disks that exist. */
export async function assertAllCopies(world: TestWorld): Promise<void> {
  world.assertDataSafe();
  await world.until(
    async () =>
      world.world.fdb.truth
        .replicas()
        .every(({ replicas }) => replicas.every((replica) => replica.isLive && replica.isOnDisk)),
    "all copies are live",
  );
  world.assertDataSafe();
}

/** Reconciled, and nobody is on the way out any more. */
export async function untilSettled(world: TestWorld, limitMs = 15 * minuteMs): Promise<void> {
  await world.untilReconciled(limitMs);
  await world.until(
    async () => (await groups(world)).every((group) => group.removalTimestamp === undefined),
    "all removals are complete",
    5 * minuteMs,
  );
  await world.untilReconciled();
}

/** Acts of one kind that the operator carried out, as people read them. */
export function commandsOf(world: TestWorld, type: Action["type"]): string[] {
  return world.activities.flatMap((activity) =>
    activity.type === "action" && activity.action.type === type && activity.error === undefined
      ? [activity.text]
      : [],
  );
}
