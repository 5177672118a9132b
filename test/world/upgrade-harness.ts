// Helpers for upgrades in a whole world: what was restarted, how often the database recovered, which versions run.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import { configMaps } from "../../src/kube/resource.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { TestWorld, minuteMs, small } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

export const oldVersion = "7.1.57";
export const newVersion = "7.3.63";

/** Nine processes; removals follow one another without a pause, and restarts are allowed soon. */
export const nine: Partial<ClusterSpec> = {
  ...small,
  version: oldVersion,
  minimumUptimeSecondsForBounce: 30,
  automationOptions: { waitBetweenRemovalsSeconds: 0 },
};

export const upgradeLimitMs = 40 * minuteMs;

/** A cluster at rest whose last recovery is long ago. */
export async function upgradeWorld(
  options: TestWorldOptions & { spec?: Partial<ClusterSpec> },
  body: (world: TestWorld) => Promise<void>,
): Promise<void> {
  const { spec = {}, ...rest } = options;
  await TestWorld.runWithCluster({ ...rest, spec: { ...nine, ...spec } }, async (world) => {
    await world.clock.advance(2 * minuteMs);
    await body(world);
    world.assertDataSafe();
  });
}

/** Restarts that were carried out. */
export function killsOf(world: TestWorld): (readonly string[])[] {
  return world.activities.flatMap((activity) =>
    activity.type === "action" &&
    activity.action.type === "killProcesses" &&
    activity.error === undefined
      ? [activity.action.addresses]
      : [],
  );
}

export function recoveriesOf(world: TestWorld): number {
  return world.world.fdb.truth.databases().find((one) => one.isConfigured)?.recoveries.length ?? 0;
}

export async function untilRunning(world: TestWorld, version: string): Promise<void> {
  await world.until(
    async () => (await world.cluster()).status?.runningVersion === version,
    `${version} runs`,
    10 * minuteMs,
  );
}

export async function imagesOf(world: TestWorld): Promise<string[]> {
  const found = new Set<string>();
  for (const pod of await world.pods()) {
    for (const { image } of pod.spec?.containers ?? []) found.add(image ?? "");
  }
  return [...found].sort();
}

/** The version that the ConfigMap tells unified pods to run. */
export async function announced(world: TestWorld): Promise<string | undefined> {
  const map = await world.client.get(configMaps, { namespace: "default", name: "sample-config" });
  const text = map.data?.["fdbmonitor-conf-storage-json"] ?? "{}";
  return (JSON.parse(text) as { version?: string }).version;
}

/** An incompatible upgrade whose pods are told the new version, and whose restart waits for a person's word. */
export async function announceUpgrade(world: TestWorld): Promise<void> {
  const automationOptions = { ...nine.automationOptions, killProcesses: false };
  await world.changeSpec({ version: newVersion, automationOptions });
  const isAnnounced = async (): Promise<boolean> => (await announced(world)) === newVersion;
  await world.until(isAnnounced, "the new version is announced", 10 * minuteMs);
}

export async function allowRestart(world: TestWorld): Promise<void> {
  await world.changeSpec({ automationOptions: { ...nine.automationOptions, killProcesses: true } });
}

export async function assertAllOn(world: TestWorld, version: string): Promise<void> {
  const images = await imagesOf(world);
  assert.ok(images.length > 0);
  for (const image of images) assert.match(image, new RegExp(`:${version}(-1)?$`));
  // The database lists processes that are gone for some seconds.
  await world.clock.advance(minuteMs / 2);
  const status = await statusOf(world, version);
  const processes = Object.values(status.cluster?.processes ?? {});
  const versions = new Set(processes.map((process) => process.version));
  assert.deepEqual([...versions], [version]);
  assert.deepEqual(status.cluster?.incompatible_connections, []);
  const { status: stored } = await world.cluster();
  assert.equal(stored?.runningVersion, version);
}

export async function withAdmin<T>(
  world: TestWorld,
  version: string,
  use: (admin: AdminClient) => Promise<T>,
): Promise<T> {
  const connectionString = (await world.cluster()).status?.connectionString ?? "";
  const admin = world.world.fdb.admin.open({ name: "test", connectionString, version });
  try {
    return await world.during(use(admin), minuteMs, "the database answers");
  } finally {
    admin.close();
  }
}

/** A restart may swallow a question, so it is asked twice. */
export function statusOf(world: TestWorld, version: string): Promise<DatabaseStatus> {
  return withAdmin(world, version, (admin) =>
    admin.status(10_000).catch(() => admin.status(45_000)),
  );
}

export async function blockedBy(world: TestWorld): Promise<string> {
  const { status } = await world.cluster();
  return (status?.blockedBy ?? []).map(({ reason, message }) => `${reason}: ${message}`).join("\n");
}

export async function untilBlocked(world: TestWorld, reason: string): Promise<void> {
  await world.until(
    async () => (await blockedBy(world)).includes(`${reason}: `),
    `blocked by ${reason}`,
  );
}
