// Upgrades in which something goes wrong on the way. Rules: spec/upgrade.md [U5], [U22]-[U29], [U40], [U81].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { pods } from "../../src/kube/resource.ts";
import {
  allowRestart,
  announceUpgrade,
  announced,
  assertAllOn,
  blockedBy,
  imagesOf,
  killsOf,
  newVersion,
  oldVersion,
  statusOf,
  untilBlocked,
  untilRunning,
  upgradeLimitMs,
  upgradeWorld,
} from "./upgrade-harness.ts";
import { keyOfObject, minuteMs, nameOf } from "./world-harness.ts";

test("[U22][U81] F05 a coordinator's pod that is deleted during the preparation comes back in time", async () => {
  await upgradeWorld({}, async (world) => {
    await world.changeSpec({ version: newVersion });
    await world.clock.advance(1_000);
    assert.equal(await announced(world), oldVersion);
    const [pod] = await world.pods("log");
    assert.ok(pod);
    await world.client.delete(pods, keyOfObject(pod));
    await untilRunning(world, newVersion);
    await world.untilReconciled(upgradeLimitMs);
    assert.equal(killsOf(world).length, 1);
    await assertAllOn(world, newVersion);
  });
});

test("[U23][U81] F05 a pod that is deleted after the announcement joins when the others have changed", async () => {
  await upgradeWorld({}, async (world) => {
    await announceUpgrade(world);
    const [pod] = await world.pods("storage");
    assert.ok(pod);
    await world.client.delete(pods, keyOfObject(pod));
    await world.clock.advance(minuteMs);
    await allowRestart(world);
    await untilRunning(world, newVersion);
    await world.untilReconciled(upgradeLimitMs);
    assert.equal(killsOf(world).length, 1);
    await assertAllOn(world, newVersion);
  });
});

test("[U22] an image that does not exist holds the upgrade, is named, and the way back is free", async () => {
  await upgradeWorld({}, async (world) => {
    const missing = "nowhere";
    const imageConfigs = [{ version: newVersion, tag: missing }];
    await world.changeSpec({ version: newVersion, mainContainer: { imageConfigs } });
    await untilBlocked(world, "PodImageUnavailable");
    assert.match(await blockedBy(world), /nowhere/);
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(killsOf(world), []);
    assert.equal(await announced(world), oldVersion);
    const { cluster } = await statusOf(world, oldVersion);
    assert.equal(Object.keys(cluster?.processes ?? {}).length, 9, "everybody works");
    await world.changeSpec({ version: oldVersion, mainContainer: null });
    await world.untilReconciled(10 * minuteMs);
    assert.deepEqual(killsOf(world), []);
    assert.ok((await imagesOf(world)).every((image) => image.endsWith(`:${oldVersion}`)));
  });
});

for (const imageType of ["unified", "split"] as const) {
  test(`[U29] a change of mind during the preparation takes everything back (${imageType})`, async () => {
    const spec = { imageType };
    await upgradeWorld({ spec }, async (world) => {
      const before = (await world.pods()).map(({ metadata }) => metadata.uid);
      await world.changeSpec({ version: newVersion });
      await world.clock.advance(3_000);
      await world.changeSpec({ version: oldVersion });
      await world.untilReconciled();
      await world.clock.advance(5 * minuteMs);
      assert.deepEqual(killsOf(world), []);
      assert.deepEqual(
        (await world.pods()).map(({ metadata }) => metadata.uid),
        before,
      );
      await assertAllOn(world, oldVersion);
    });
  });

  test(`[U81] F05 another target during the preparation, together with a change of the pods (${imageType}) (long)`, async () => {
    await upgradeWorld({ spec: { imageType } }, async (world) => {
      await world.changeSpec({ version: "7.3.27" });
      await world.clock.advance(3_000);
      const labels = { labels: { team: "storage" } };
      const { processes } = (await world.cluster()).spec;
      const general = processes?.["general"];
      const podTemplate = { ...general?.podTemplate, metadata: labels };
      await world.changeSpec({
        version: newVersion,
        processes: { general: { ...general, podTemplate, customParameters: ["knob_x=1"] } },
      });
      await untilRunning(world, newVersion);
      await world.untilReconciled(upgradeLimitMs);
      assert.equal(killsOf(world).length, 1, "the knob came with the same restart");
      await assertAllOn(world, newVersion);
    });
  });
}

test("[U25][U40] F05 a process that is missing for long is not waited for, and follows by itself (long)", async () => {
  await upgradeWorld({}, async (world) => {
    const [pod] = await world.pods("storage");
    assert.ok(pod);
    const node = pod.spec?.nodeName ?? "";
    await world.world.kubelet.stopNode(node);
    await world.clock.advance(minuteMs);
    await world.changeSpec({ version: newVersion });
    await untilRunning(world, newVersion);
    assert.equal(killsOf(world).length, 1);
    await world.world.kubelet.startNode(node);
    await world.untilReconciled(upgradeLimitMs);
    assert.ok((await world.pods("storage")).some((one) => nameOf(one) === nameOf(pod)));
    await assertAllOn(world, newVersion);
  });
});

for (const [from, to] of [
  ["unified", "split"],
  ["split", "unified"],
] as const) {
  test(`[U21] an upgrade together with a change from the ${from} to the ${to} image ends with both (long)`, async () => {
    await upgradeWorld({ spec: { imageType: from } }, async (world) => {
      await world.changeSpec({ version: newVersion, imageType: to });
      await world.untilReconciled(upgradeLimitMs);
      assert.equal(killsOf(world).length, 1);
      await assertAllOn(world, newVersion);
    });
  });
}
