// A coordinator that runs ahead of an incompatible upgrade, and another one that is lost meanwhile: no majority is left, and no
// cluster controller lists who runs ahead. Rules: spec/upgrade.md [U96].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import {
  allowRestart,
  announceUpgrade,
  assertAllOn,
  blockedBy,
  killsOf,
  newVersion,
  nine,
  untilBlocked,
  untilRunning,
  upgradeLimitMs,
  upgradeWorld,
} from "./upgrade-harness.ts";
import { keyOfObject, minuteMs } from "./world-harness.ts";
import type { TestWorld } from "./world-harness.ts";

const double = { databaseConfiguration: { redundancy_mode: "double" } } as const;

async function pkill(world: TestWorld, pod: string): Promise<void> {
  const place = { namespace: "default", pod, container: "foundationdb", timeoutMs: minuteMs };
  const running = world.world.pods.run({ ...place, command: ["pkill", "fdbserver"] });
  const { exitCode } = await world.during(running, minuteMs, "pkill");
  assert.equal(exitCode, 0);
}

/** Split pods are told the new version by their sidecars, and the restart waits for a person's word. */
async function prepareSplit(world: TestWorld): Promise<void> {
  const automationOptions = { ...nine.automationOptions, killProcesses: false };
  await world.changeSpec({ version: newVersion, automationOptions });
  const isPrepared = async (): Promise<boolean> => {
    const found = await world.pods();
    return found.every(({ spec, status }) => {
      const isReady = status?.containerStatuses?.every(({ ready }) => ready) === true;
      return isReady && spec?.containers.some(({ image }) => image?.includes(newVersion)) === true;
    });
  };
  await world.until(isPrepared, "all sidecars have the new image", 10 * minuteMs);
}

/** The first coordinator runs ahead, the second one loses its volume; the name of the third one's pod. */
async function loseMajority(world: TestWorld): Promise<string> {
  const [ahead, lost, third] = await world.pods("log");
  assert.ok(ahead && lost && third);
  await pkill(world, ahead.metadata.name ?? "");
  await world.clock.advance(5_000);
  const { name = "", ...place } = keyOfObject(lost);
  await world.client.delete(persistentVolumeClaims, { ...place, name: `${name}-data` });
  await world.client.delete(pods, { ...place, name });
  await allowRestart(world);
  return third.metadata.name ?? "";
}

async function remedyOfOutage(world: TestWorld): Promise<string> {
  const { status } = await world.cluster();
  const wait = status?.blockedBy?.find(({ step }) => step === "bounceProcesses");
  return `${wait?.reason}: ${wait?.message} ${wait?.remedy}`;
}

async function assertToldAndFollowed(world: TestWorld, third: string): Promise<void> {
  await world.clock.advance(5 * minuteMs);
  await untilBlocked(world, "DatabaseUnavailable");
  assert.match(await blockedBy(world), /2 of 3 coordinators cannot be reached/);
  const told = await remedyOfOutage(world);
  assert.match(told, /It may need log-\S+, which run the new version already/);
  assert.ok(told.includes(`pkill fdbserver\` for each of ${third}. `), told);
  assert.deepEqual(killsOf(world), []);
  await pkill(world, third);
  await untilRunning(world, newVersion);
  await world.untilReconciled(upgradeLimitMs);
  assert.deepEqual(killsOf(world), [], "nobody else restarts anything in place");
  await assertAllOn(world, newVersion);
}

for (const imageType of ["unified", "split"] as const) {
  const upgrade = imageType === "split" ? prepareSplit : announceUpgrade;
  const spec: Partial<ClusterSpec> = { ...double, imageType };

  test(`[U96] a coordinator that ran ahead and another one that is lost: the wait names what a person restarts, and the upgrade goes on (${imageType}) (long)`, async () => {
    await upgradeWorld({ spec, nodes: 8 }, async (world) => {
      await upgrade(world);
      await assertToldAndFollowed(world, await loseMajority(world));
    });
  });

  test(`[U96] a coordinator that is made again meanwhile starts with the new version (${imageType}) (long)`, async () => {
    await upgradeWorld({ spec, nodes: 8 }, async (world) => {
      await upgrade(world);
      const third = await loseMajority(world);
      await world.clock.advance(minuteMs);
      await world.client.delete(pods, { namespace: "default", name: third });
      await untilRunning(world, newVersion);
      await world.untilReconciled(upgradeLimitMs);
      assert.deepEqual(killsOf(world), []);
      await assertAllOn(world, newVersion);
    });
  });
}
