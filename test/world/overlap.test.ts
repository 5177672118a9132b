// Two installations of the operator that look after the same clusters. Rules: spec/overlap.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { formatQuestion, questionAnnotation } from "../../src/api/operator-question.ts";
import { keyOf } from "../../src/kube/path.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { silentLog } from "../../src/env/log.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import type { Activity } from "../../src/operate/activity.ts";
import { operatorNameOf } from "../../src/operate/overlap.ts";
import { operatorSeat } from "../../src/sim/operator-seat.ts";
import type { OperatorSeat } from "../../src/sim/operator-seat.ts";
import { createStore } from "./backup-harness.ts";
import { backupOf, BackupWorld } from "./managed-backup.ts";
import { DrillWorld, hourly } from "./managed-drill.ts";
import { minuteMs, small, TestWorld } from "./world-harness.ts";

const [first, second] = [operatorNameOf("a", "lease"), operatorNameOf("b", "lease")];

const merge = { type: "merge" } as const;

interface Overlap {
  world: TestWorld;
  other: OperatorSeat;
  /** What the other one did. */
  acts: Activity[];
}

async function withTwo(run: (overlap: Overlap) => Promise<void>): Promise<void> {
  const world = await TestWorld.open({ operator: { name: first } });
  const acts: Activity[] = [];
  const { clock, network, fdb, server } = world.world;
  const other = operatorSeat(
    { operator: { name: second }, onActivity: (activity) => acts.push(activity) },
    {
      ...{ clock, network, admin: fdb.admin, log: silentLog },
      random: (number) => keyedRandom(7, `other ${number}`),
      transport: () => server.transport("fdb-operator"),
      noteAction: () => undefined,
    },
  );
  try {
    await run({ world, other, acts });
  } finally {
    await world.during(other.stop(), minuteMs, "the end of the other operator");
    await world.close();
  }
}

async function question(world: TestWorld): Promise<string> {
  return (await world.cluster()).metadata.annotations?.[questionAnnotation] ?? "";
}

async function warningOf(world: TestWorld): Promise<string | undefined> {
  return conditionIn((await world.cluster()).status, "Warning")?.reason;
}

const actsOf = (activities: readonly Activity[]): string[] =>
  activities.flatMap((activity) => (activity.type === "action" ? [activity.text] : []));

const knob = (value: string) => ({ processes: { general: { customParameters: [value] } } });

test("[OVER2][OVER3][OVER5] an operator that comes to a cluster of another one stands back, and both say so (long)", async () => {
  await withTwo(async ({ world, other, acts }) => {
    await world.createCluster(small);
    await world.untilReconciled();
    other.start();
    await world.clock.advance(2 * minuteMs);
    assert.match(
      await question(world),
      /^asked by fdb-operator:b\/lease .*answered by fdb-operator:a\/lease/,
    );
    assert.equal(await warningOf(world), "OperatorOverlap");
    const told = (await world.events("OperatorOverlap")).map(({ message }) => message ?? "");
    assert.ok(
      told.some((message) => message.includes(`${first} works on it: this one stands back`)),
    );
    assert.ok(told.some((message) => message.includes(`${second} looks after it, too`)));
    await world.changeSpec(knob("knob_max_trace_lines=7"));
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(actsOf(acts), []);
    const kills = actsOf(world.activities).filter((text) => text.startsWith("restart"));
    // The canary, and then all others.
    assert.equal(kills.length, 2, kills.join("\n"));
    // The question is asked anew, and answered, for as long as both are there.
    await world.clock.advance(65 * minuteMs);
    assert.equal(await warningOf(world), "OperatorOverlap");
    assert.deepEqual(actsOf(acts), []);
    world.assertDataSafe();
  });
});

test("[OVER4] the other one takes over when the first one is gone, and then the first one stands back", async () => {
  await withTwo(async ({ world, other, acts }) => {
    await world.createCluster(small);
    await world.untilReconciled();
    other.start();
    await world.clock.advance(2 * minuteMs);
    await world.during(world.world.stopOperator(), minuteMs, "the end of the first operator");
    await world.changeSpec(knob("knob_max_trace_lines=8"));
    await world.clock.advance(25 * minuteMs);
    assert.deepEqual(actsOf(acts), []);
    await world.untilReconciled(20 * minuteMs);
    assert.ok(actsOf(acts).length > 0);
    await world.clock.advance(15 * minuteMs);
    assert.equal(await warningOf(world), undefined);
    const mark = world.activities.length;
    world.world.startOperator();
    await world.clock.advance(2 * minuteMs);
    await world.changeSpec(knob("knob_max_trace_lines=9"));
    await world.untilReconciled(20 * minuteMs);
    assert.deepEqual(actsOf(world.activities.slice(mark)), []);
    assert.equal(await warningOf(world), "OperatorOverlap");
    world.assertDataSafe();
  });
});

test("[OVER2] two operators that see a new cluster at the same time: one makes it", async () => {
  await withTwo(async ({ world, other, acts }) => {
    other.start();
    await world.clock.advance(minuteMs);
    await world.createCluster(small);
    await world.untilReconciled(15 * minuteMs);
    await world.clock.advance(10 * minuteMs);
    const workers = [actsOf(world.activities), actsOf(acts)].filter((list) => list.length > 0);
    assert.equal(workers.length, 1);
    assert.equal(await warningOf(world), "OperatorOverlap");
    world.assertDataSafe();
  });
});

test("[OVER8] a backup that another operator began than the one of its cluster comes to that one (long)", async () => {
  await withTwo(async ({ world, other, acts }) => {
    await world.createCluster(small);
    await world.untilReconciled();
    other.start();
    await world.clock.advance(2 * minuteMs);
    const scene = new BackupWorld(world, await createStore(world));
    const atMs = world.clock.nowMs();
    const claim = { askedBy: second, askedMs: atMs, answer: { by: second, atMs } };
    const made = backupOf();
    const annotations = { [questionAnnotation]: formatQuestion(claim) };
    const metadata = { ...made.metadata, annotations };
    await world.client.create(foundationDbBackups, { ...made, metadata });
    await scene.untilRestorable();
    assert.deepEqual(actsOf(acts), []);
    // Both are there for a long time, and the backup changes hands no more.
    await world.clock.advance(40 * minuteMs);
    const found = (await scene.find())?.metadata.annotations?.[questionAnnotation] ?? "";
    assert.ok(!found.includes(`answered by ${second}`), found);
  });
});

test("[OVER8] a backup whose cluster was away for a while is nobody's for a minute, not for half an hour", async () => {
  await withTwo(async ({ world }) => {
    const atMs = world.clock.nowMs();
    await world.createCluster(small);
    await world.untilReconciled();
    const scene = new BackupWorld(world, await createStore(world));
    // Before the cluster was there the other one answered; it stands back from the cluster now, and says nothing more.
    const told = { askedBy: first, askedMs: atMs, askedOf: second, answer: { by: second, atMs } };
    const made = backupOf();
    const annotations = { [questionAnnotation]: formatQuestion(told) };
    const metadata = { ...made.metadata, annotations };
    await world.client.create(foundationDbBackups, { ...made, metadata });
    await world.clock.advance(3 * minuteMs);
    const status = (await scene.find())?.status;
    assert.notEqual(status, undefined);
    await scene.untilRestorable();
  });
});

test("[OVER8] the cluster of a drill comes to the operator of the backup (long)", async () => {
  await withTwo(async ({ world, other, acts }) => {
    await world.createCluster(small);
    await world.untilReconciled();
    other.start();
    await world.clock.advance(2 * minuteMs);
    const scene = new DrillWorld(world, await createStore(world));
    const atMs = world.clock.nowMs();
    const claim = { askedBy: second, askedMs: atMs, answer: { by: second, atMs } };
    const { template } = hourly();
    const annotations = { [questionAnnotation]: formatQuestion(claim) };
    await scene.create({
      verification: hourly({ template: { ...template, metadata: { annotations } } }),
    });
    await scene.untilRestorable();
    const { result } = await scene.untilVerdict();
    assert.equal(result, "Passed");
    assert.deepEqual(actsOf(acts), []);
  });
});

test("[OVER10] what it remembers of the time before it stood back is forgotten", async () => {
  await withTwo(async ({ world }) => {
    const imageConfigs = [{ tag: "no-such-tag" }];
    await world.createCluster({ ...small, mainContainer: { imageConfigs } });
    const waitOf = async () =>
      (await world.cluster()).status?.blockedBy?.find(
        ({ reason }) => reason === "PodImageUnavailable",
      );
    await world.until(async () => (await waitOf()) !== undefined, "the wait");
    const atMs = world.clock.nowMs();
    const claim = { askedBy: second, askedMs: atMs, answer: { by: second, atMs } };
    const annotations = { [questionAnnotation]: formatQuestion(claim) };
    const key = keyOf(await world.cluster());
    await world.client.patch(foundationDbClusters, key, { metadata: { annotations } }, merge);
    // The other one was here meanwhile, and all was well.
    const { status, ...rest } = await world.cluster();
    await world.client.updateStatus(foundationDbClusters, {
      ...rest,
      status: { ...status, blockedBy: [] },
    });
    await world.clock.advance(2 * minuteMs);
    await world.until(async () => (await waitOf()) !== undefined, "the wait again");
    assert.ok(Date.parse((await waitOf())?.since ?? "") > atMs + minuteMs, (await waitOf())?.since);
  });
});
