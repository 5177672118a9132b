// What was announced in an upgrade in which all processes change at once, and meets a ConfigMap that is deleted or pods that
// are made again. Rules: spec/upgrade.md [U93], [U94].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { UpgradeWorld, newVersion, oldVersion } from "./upgrade-world.ts";

const moments: readonly [what: string, passes: number, version: string][] = [
  ["before the announcement", 1, oldVersion],
  ["after the announcement", 6, newVersion],
];

for (const [what, passes, version] of moments) {
  test(`[U93] a ConfigMap that is lost ${what} names ${version} again, though the database does not answer`, () => {
    const world = new UpgradeWorld();
    world.changeSpec({ version: newVersion });
    for (let count = 0; count < passes; count += 1) {
      world.pass();
      world.followConfiguration();
    }
    assert.equal(world.announced(), version);
    world.configMap = undefined;
    world.isDatabaseReachable = false;
    world.pass();
    assert.equal(world.announced(), version);
  });
}

test("[U93] a ConfigMap that is lost while the restart has to wait names the new version again", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.prepare();
  assert.equal(world.announced(), newVersion);
  world.changeSpec({ version: newVersion, minimumUptimeSecondsForBounce: 1_000_000 });
  world.configMap = undefined;
  world.pass();
  assert.equal(world.announced(), newVersion);
});

const silent: readonly [what: string, wanted: string][] = [
  ["nobody tells who the clients are", newVersion],
  ["it is overtaken by another wish", "7.4.6"],
  ["it is taken back", oldVersion],
];

for (const [what, wanted] of silent) {
  test(`[U94] a pod that is made again after the announcement gets its sidecar while the database is silent and ${what}`, () => {
    const world = new UpgradeWorld();
    world.changeSpec({ version: newVersion });
    world.prepare();
    world.isDatabaseReachable = false;
    world.changeSpec({ version: wanted });
    world.pass();
    const before = world.imageChanges.length;
    const lost = [...world.pods.keys()].find((name) => name.includes("-log-")) ?? "";
    world.pods.delete(lost);
    for (let count = 0; count < 3; count += 1) world.pass();
    assert.equal(world.announced(), newVersion);
    const image = `foundationdb/fdb-kubernetes-monitor:${newVersion}`;
    assert.deepEqual(world.imageChanges.slice(before), [`${lost} ${image}`]);
  });
}
