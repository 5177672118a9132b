// A ConfigMap that is deleted in the middle of an upgrade in which all processes change at once. Rules: spec/upgrade.md [U93].
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
