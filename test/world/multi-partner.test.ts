// One of several operators in global mode is stopped, cut off, or was never told of the change. Rules: spec/multi.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { BlockedBy } from "../../src/api/cluster.ts";
import { cutCluster, restoreCluster } from "../../src/sim/faults/cut-cluster.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { createRegions, threeClusters } from "./multi-regions.ts";
import { knobs } from "./restart-harness.ts";
import { newVersion, oldVersion } from "./upgrade-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

const { names } = threeClusters;
const automationOptions = { synchronizationMode: "global" as const };
const knob = (number: number) => knobs(`knob_max_trace_lines=${1000 + number}`);

function globally(version: string, body: (world: MultiTestWorld) => Promise<void>): Promise<void> {
  return MultiTestWorld.run({ names }, async (world) => {
    await createRegions(world, threeClusters, { automationOptions, version });
    await body(world);
    await atRest(world);
  });
}

/** All is done, nothing is left in the sets, and the last recovery is long ago. */
async function atRest(world: MultiTestWorld): Promise<void> {
  await world.untilAllReconciled(2 * hourMs);
  await world.untilNoEntries();
  await world.clock.advance(3 * minuteMs);
  world.assertDataSafe();
}

/** Lets time pass until an entry is there, a tenth of a second at a time. */
async function untilEntry(world: MultiTestWorld, start: string): Promise<void> {
  for (let count = 0; count < 600; count += 1) {
    if ((await world.entries()).some((entry) => entry.startsWith(start))) return;
    await world.clock.advance(100);
  }
  assert.fail(`no entry ${start}`);
}

async function waitFor(world: MultiTestWorld, name: string): Promise<BlockedBy | undefined> {
  const { status } = await world.cluster(name);
  return status?.blockedBy?.find(({ reason }) => reason === "InstanceNotReady");
}

const kills = (world: MultiTestWorld): number => world.acts("killProcesses").length;

test("[MU25] [MU26] [MU27] [MU28] partners that are away or were not told (long)", async (t) => {
  await globally(newVersion, async (world) => {
    await t.test(
      "[MU25] a restart waits for a partner that stopped before it was ready, and names it",
      () => waitForStopped(world),
    );
    await atRest(world);
    await t.test(
      "[MU26] a partner that was not told is not waited for, and its own rollout is one more kill",
      () => leaveOutUntold(world),
    );
    await atRest(world);
    await t.test(
      "[MU27] an exclusion goes ahead without a stopped partner after five minutes, and the partner finishes later",
      () => excludeAlone(world),
    );
    await atRest(world);
    await t.test(
      "[MU28] switching global mode off and on again in the middle of work ends clean",
      () => switchModes(world),
    );
    await atRest(world);
  });
});

async function waitForStopped(world: MultiTestWorld): Promise<void> {
  const before = kills(world);
  await world.changeAll(knob(1));
  await untilEntry(world, "pendingForRestart/remote-");
  await world.crashOperator("remote");
  const entries = await world.entries();
  assert.ok(!entries.some((entry) => entry.startsWith("readyForRestart/remote-")));
  await world.clock.advance(20 * minuteMs);
  assert.equal(kills(world), before);
  for (const name of ["main", "satellite"]) {
    const wait = await waitFor(world, name);
    assert.match(wait?.message ?? "", /instance remote is not ready with remote-.*since 2026-/);
  }
  world.startOperator("remote");
  await world.untilAllReconciled(hourMs);
  assert.equal(kills(world), before + 1);
}

async function leaveOutUntold(world: MultiTestWorld): Promise<void> {
  const before = kills(world);
  for (const name of ["main", "satellite"]) await world.at(name).changeSpec(knob(2), { name });
  await world.untilAllReconciled(10 * minuteMs);
  assert.equal(kills(world), before + 1);
  await world.clock.advance(10 * minuteMs);
  await world.at("remote").changeSpec(knob(2), { name: "remote" });
  await world.untilAllReconciled(10 * minuteMs);
  assert.equal(kills(world), before + 2);
  const [, last] = world.acts("killProcesses").slice(-2);
  assert.equal(last?.name, "remote");
  assert.equal(last?.action.addresses.length, 10);
}

async function excludeAlone(world: MultiTestWorld): Promise<void> {
  for (const name of ["main", "remote"]) {
    const { status } = await world.cluster(name);
    const processGroupsToRemove = (status?.processGroups ?? [])
      .filter(({ processClass }) => processClass === "stateless")
      .map(({ processGroupID }) => processGroupID);
    await world.at(name).changeSpec({ processGroupsToRemove }, { name });
  }
  const startMs = world.clock.nowMs();
  await untilEntry(world, "pendingForExclusion/remote-");
  await world.crashOperator("remote");
  await untilEntry(world, "readyForExclusion/main-");
  await world.clock.advance(4 * minuteMs);
  assert.equal(world.acts("excludeProcesses", startMs).length, 0);
  await world.clock.advance(4 * minuteMs);
  const [alone, ...more] = world.acts("excludeProcesses", startMs);
  assert.equal(more.length, 0);
  assert.ok(alone?.action.processGroupIds.every((id) => id.startsWith("main-")));
  await world.clock.advance(hourMs);
  world.startOperator("remote");
  await world.untilAllReconciled(hourMs);
  const last = world.acts("excludeProcesses", startMs).at(-1);
  assert.ok(last?.action.processGroupIds.every((id) => id.startsWith("remote-")));
}

async function switchModes(world: MultiTestWorld): Promise<void> {
  await world.changeAll(knob(3));
  await untilEntry(world, "pendingForRestart/");
  await world.changeAll({ automationOptions: { synchronizationMode: "local" } });
  await world.untilAllReconciled(hourMs);
  await world.changeAll(knob(4));
  await world.changeAll({ automationOptions });
}

test("[MU29] an upgrade waits for a cluster that is away, whatever is away of it, then restarts all at once (long)", async () => {
  await globally(oldVersion, async (world) => {
    const before = kills(world);
    const remote = world.at("remote").world;
    await world.changeAll({ version: newVersion });
    await world.clock.advance(300);
    world.links("satellite").database.cut();
    await world.crashOperator("remote");
    await world.clock.advance(15 * minuteMs);
    assert.equal(kills(world), before, "an operator is dead, another one has no database");
    world.startOperator("remote");
    await world.clock.advance(15 * minuteMs);
    assert.equal(kills(world), before, "an operator has no database");
    cutCluster(remote, world.links("remote"));
    world.links("satellite").database.restore();
    await world.clock.advance(15 * minuteMs);
    assert.equal(kills(world), before, "a cluster is cut off");
    assert.equal(world.database.isAvailable, true);
    const { status } = await world.cluster("main");
    const wait = status?.blockedBy?.find(({ reason }) => reason === "RestartHeld");
    assert.match(wait?.message ?? "", /could not restart cleanly/);
    restoreCluster(remote, world.links("remote"));
    await world.untilAllReconciled(2 * hourMs);
    assert.equal(kills(world), before + 1);
    for (const name of names) {
      assert.equal((await world.cluster(name)).status?.runningVersion, newVersion);
    }
  });
});
