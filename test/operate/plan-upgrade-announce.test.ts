// When the ConfigMap names the version of an incompatible upgrade: not before every sidecar runs it, however its node names
// images. Rules: spec/upgrade.md [U22], [U23], [U36].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Plan } from "../../src/plan/chain.ts";
import { UpgradeWorld, newVersion, oldVersion } from "./upgrade-world.ts";

function restartWait({ waits }: Plan): string {
  const wait = waits.find(({ step }) => step === "bounceProcesses");
  return `${wait?.reason}: ${wait?.message}`;
}

test("[U22][U23] the ConfigMap names the new version when all sidecars have it, and keeps to it", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.pass();
  assert.equal(world.announced(), oldVersion);
  world.pass();
  assert.equal(world.announced(), newVersion);
  const [name = ""] = world.pods.keys();
  world.pods.delete(name);
  world.pass();
  assert.equal(world.announced(), newVersion);
});

test("[U22] nothing is announced before the restart would be allowed, and the wait says when that is", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion, minimumUptimeSecondsForBounce: 1_000_000 });
  world.pass();
  const plan = world.pass();
  assert.equal(world.announced(), oldVersion);
  assert.match(restartWait(plan), /^RestartHeld: .*running for 1000000 seconds/);
  world.changeSpec({ version: newVersion, minimumUptimeSecondsForBounce: 1 });
  world.pass();
  assert.equal(world.announced(), newVersion);
});

test("[U22] a sidecar that does not start with the new image holds the announcement back", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: newVersion });
  world.pass();
  const [name = ""] = world.pods.keys();
  const pod = world.pods.get(name);
  assert.ok(pod?.status?.containerStatuses);
  const containerStatuses = pod.status.containerStatuses.map((status) => ({
    ...status,
    ready: status.name === "foundationdb",
  }));
  world.pods.set(name, { ...pod, status: { ...pod.status, containerStatuses } });
  const plan = world.pass();
  assert.equal(world.announced(), oldVersion);
  assert.match(restartWait(plan), new RegExp(`UpgradeStaging: .*${name}`));
});

/** How nodes name an image: as it was given, with what the name leaves out, or not at all. */
const spellings: readonly ((image: string) => string)[] = [
  (image) => image,
  (image) => `docker.io/${image}`,
  () => "sha256:4cdf40d25a11",
  () => "docker.io/foundationdb/fdb-kubernetes-monitor:latest",
];

for (const [index, nameOf] of spellings.entries()) {
  test(`[U22][U36] a sidecar that its node still tells of as it was is no new one (spelling ${index + 1})`, () => {
    const world = new UpgradeWorld();
    world.areKubeletsAtOnce = false;
    // Nodes name what runs before the upgrade alike.
    world.restartSidecars(undefined, nameOf);
    world.changeSpec({ version: newVersion });
    world.pass();
    assert.equal(world.imageChanges.length, world.pods.size);
    const plan = world.pass();
    assert.equal(world.announced(), oldVersion, "every sidecar is the old one, and ready");
    assert.match(restartWait(plan), /^UpgradeStaging: /);
    const [last = ""] = world.pods.keys();
    world.restartSidecars(({ metadata }) => metadata.name !== last, nameOf);
    world.pass();
    assert.equal(world.announced(), oldVersion);
    world.restartSidecars(undefined, nameOf);
    world.pass();
    assert.equal(world.announced(), newVersion);
  });
}

test("[U22] a sidecar of a version that was overtaken is not the wanted one", () => {
  const world = new UpgradeWorld();
  world.changeSpec({ version: "7.3.27" });
  world.pass();
  world.areKubeletsAtOnce = false;
  world.changeSpec({ version: newVersion });
  for (let count = 0; count < 3; count += 1) world.pass();
  assert.notEqual(world.announced(), newVersion);
  world.restartSidecars();
  world.pass();
  assert.equal(world.announced(), newVersion);
});
