// Backups in trouble, in a whole world: stores that refuse, clusters and operators that go, leftovers of the Go operator.
// Rules: spec/backup.md.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { BackupStatus } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { secrets } from "../../src/kube/resource.ts";
import { pods } from "../../src/kube/resource.ts";
import { agentTemplate, BackupWorld, nightly } from "./managed-backup.ts";
import { keyOfObject, minuteMs, small } from "./world-harness.ts";

const sample = { namespace: "default", name: "sample" };

test("[BK42][BK47] a wrong secret is told, and the backup starts when it is right", async () => {
  await BackupWorld.run({ secret: "WRONG" }, async (scene) => {
    await scene.create();
    await scene.until(
      ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === "BackupStoreRefused"),
      "the refusal",
    );
    await scene.advance(10 * minuteMs);
    const attempts = scene.begun();
    assert.ok(attempts.length >= 4 && attempts.length <= 9, attempts.join());
    const warnings = await scene.world.events("BackupStoreRefused");
    assert.equal(warnings.length, 1);
    assert.equal(warnings[0]?.count ?? 1, 1);
    const right = { accounts: { "KEY@store.example.com": { secret: "SECRET" } } };
    const data = { "blob.json": Buffer.from(JSON.stringify(right)).toString("base64") };
    const key = { namespace: "default", name: "store" };
    await scene.world.client.patch(secrets, key, { data }, { type: "merge" });
    await scene.until(
      ({ state }) => state !== undefined && state !== "NeverRan",
      "the start",
      10 * minuteMs,
    );
    assert.equal(scene.begun().filter((command) => command === "start").length, 1);
  });
});

test("[BK42] without credentials the tools are silent, and the wait says what is missing", async () => {
  await BackupWorld.run({}, async (scene) => {
    const [container] = agentTemplate.spec?.containers ?? [];
    const { env: _, ...bare } = container ?? { name: "foundationdb" };
    await scene.create({
      podTemplateSpec: { spec: { ...agentTemplate.spec, containers: [bare] } },
    });
    await scene.until(
      ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === "BackupCredentialsMissing"),
      "the wait",
      10 * minuteMs,
    );
    assert.deepEqual([...new Set(scene.begun())], ["describe"]);
  });
});

test("[BK42] a store that nobody reaches is told, and the backup starts when it is back", async () => {
  await BackupWorld.run({}, async (scene) => {
    scene.store.fail({ isUnreachable: true });
    await scene.create();
    await scene.until(
      ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === "BackupStoreUnreachable"),
      "unreachable",
      10 * minuteMs,
    );
    scene.store.heal();
    await scene.untilRestorable();
    assert.equal(scene.begun().filter((command) => command === "start").length, 1);
  });
});

test("[BK42][BK82] a bucket that is missing, a clock that is wrong and a store that is full are each told, and pass", async () => {
  await BackupWorld.run({}, async (scene) => {
    const until = (wanted: string): Promise<void> =>
      scene.until(
        ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === wanted),
        wanted,
        15 * minuteMs,
      );
    await scene.create({
      blobStoreConfiguration: {
        accountName: "KEY@store.example.com",
        bucket: "bakups",
        urlParameters: ["region=eu-1"],
      },
    });
    await until("BackupStoreRefused");
    const { blockedBy = [] } = await scene.status();
    assert.match(blockedBy[0]?.remedy ?? "", /bucket/);
    scene.store.fail({ isSkewed: true });
    await scene.change({ blobStoreConfiguration: { bucket: "backups" } });
    await until("BackupStoreRefused");
    assert.match((await scene.status()).blockedBy?.[0]?.message ?? "", /a clock that is wrong/);
    scene.store.heal();
    await scene.untilRestorable();
    scene.store.fail({ isFull: true });
    await until("BackupErrors");
    scene.store.heal();
    await scene.until((status) => status.blockedBy === undefined, "rest", 10 * minuteMs);
  });
});

test("[BK51] a place in which somebody else's backup lies is not used", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await scene.change({ backupState: "Stopped" });
    await scene.until(({ state }) => state === "Completed", "the end");
    await scene.world.client.delete(foundationDbBackups, nightly);
    await scene.untilGone();
    await scene.create({ tag: "other" });
    await scene.advance(5 * minuteMs);
    assert.deepEqual(await scene.reasons(), ["BackupDestinationNotEmpty"]);
    await scene.change({ blobStoreConfiguration: { backupName: "fresh" } });
    await scene.untilRestorable();
  });
});

test("[BK82][BK90] errors of agents and a backup that falls behind are told, and end by themselves", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    scene.store.fail({ isFull: true });
    await scene.until(
      ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === "BackupErrors"),
      "the errors",
      10 * minuteMs,
    );
    assert.ok((await scene.status()).backupDetails?.restorable);
    const isBehind = (status: BackupStatus): boolean =>
      conditionIn(status, "Behind")?.status === "True";
    await scene.until(isBehind, "behind", 15 * minuteMs);
    scene.store.heal();
    await scene.until(
      (status) => !isBehind(status) && status.blockedBy === undefined,
      "rest",
      10 * minuteMs,
    );
    assert.equal((await scene.world.events("BackupBehind")).length, 1);
    assert.equal((await scene.world.events("BackupCaughtUp")).length, 1);
    assert.deepEqual(scene.begun(), ["describe", "start"]);
  });
});

test("[BK81] agents that are gone are missed", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    await scene.change({ agentCount: 0 });
    await scene.until(
      ({ blockedBy = [] }) => blockedBy.some(({ reason }) => reason === "BackupAgentsSilent"),
      "the silence",
      10 * minuteMs,
    );
    assert.deepEqual(await scene.agents(), []);
    await scene.change({ agentCount: 1 });
    await scene.until((status) => status.blockedBy === undefined, "rest", 10 * minuteMs);
  });
});

for (const deletionPolicy of ["stop", "cleanup"] as const) {
  test(`[BK74] ${deletionPolicy} goes on when the cluster is deleted first`, async () => {
    await BackupWorld.run({}, async (scene) => {
      await scene.create({ deletionPolicy });
      await scene.untilRestorable();
      await scene.world.client.delete(foundationDbClusters, sample);
      await scene.advance(2 * minuteMs);
      await scene.world.client.delete(foundationDbBackups, nightly);
      await scene.annotate({ "foundationdb.org/delete-last-backup": "nightly" }).catch(() => {});
      await scene.untilGone();
      assert.equal(scene.objects() > 0, deletionPolicy === "stop");
    });
  });
}

test("[BK46] operators that die between a command and its result begin nothing twice", async () => {
  await BackupWorld.run({}, async (scene) => {
    const { world } = scene.world;
    await scene.create();
    for (let round = 0; round < 12; round += 1) {
      await scene.advance(1_700);
      await scene.world.during(world.stopOperator(), minuteMs, "the end of the operator");
      world.startOperator();
    }
    await scene.untilRestorable();
    await scene.advance(2 * minuteMs);
    assert.deepEqual(scene.begun(), ["describe", "start"]);
  });
});

test("[BK59] a backup of the Go operator is taken over without a command and without a new agent", async () => {
  await BackupWorld.run({}, async (scene) => {
    const { world } = scene.world;
    await scene.create();
    await scene.untilRestorable();
    const before = (await scene.agents()).map(({ metadata }) => metadata.uid);
    await scene.world.during(world.stopOperator(), minuteMs, "the end of the operator");
    // What the Go operator leaves: its own fields of the status, and the Deployment as it is.
    const found = await scene.find();
    assert.ok(found);
    const { agentCount, deploymentConfigured, backupDetails, generations } = found.status ?? {};
    const status = { agentCount, deploymentConfigured, backupDetails, generations };
    await scene.world.client.updateStatus(foundationDbBackups, { ...found, status });
    const mark = scene.world.requests.length;
    world.startOperator();
    await scene.advance(5 * minuteMs);
    assert.deepEqual(scene.begun(mark), []);
    assert.deepEqual(
      (await scene.agents()).map(({ metadata }) => metadata.uid),
      before,
    );
    const writes = scene.world.writesSince(mark).filter((write) => write.includes("nightly"));
    assert.deepEqual(
      [...new Set(writes)].filter((write) => !write.startsWith("delete pods")),
      ["update foundationdbbackups/status nightly", "create configmaps nightly-timeline"],
    );
    assert.ok((await scene.status()).backupUID !== undefined);
  });
});

test("[BK57] agents and commands follow the database to other coordinators", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    const before = (await scene.world.cluster()).status;
    const ids = before?.processGroups?.map(({ processGroupID }) => processGroupID) ?? [];
    const processGroupsToRemove = ids.filter((id) => !id.startsWith("stateless"));
    await scene.world.changeSpec({ processGroupsToRemove });
    await scene.world.untilReconciled(30 * minuteMs);
    const after = (await scene.world.cluster()).status;
    assert.notEqual(after?.connectionString, before?.connectionString);
    await scene.change({ snapshotPeriodSeconds: 90 });
    await scene.until(({ backupDetails }) => backupDetails?.snapshotTime === 90, "the new period");
    const to = (await scene.status()).restorable?.to?.version ?? 0;
    await scene.advance(12 * minuteMs);
    assert.ok(((await scene.status()).restorable?.to?.version ?? 0) > to + 300_000_000);
    assert.deepEqual(scene.begun(), ["describe", "start", "modify"]);
    scene.world.assertDataSafe();
  });
});

test("[BK34] an agent that ended for good makes room for another", async () => {
  await BackupWorld.run({}, async (scene) => {
    await scene.create();
    await scene.untilRestorable();
    const [agent] = await scene.agents();
    assert.ok(agent);
    const status = { ...agent.status, phase: "Failed", reason: "Evicted" };
    await scene.world.client.updateStatus(pods, { ...agent, status });
    await scene.advance(3 * minuteMs);
    const left = (await scene.agents()).map(keyOfObject);
    assert.equal(left.length, 2);
    assert.ok(!left.some(({ name }) => name === agent.metadata.name));
  });
});

test("[BK64] agents rest while the database is short of its fault tolerance, and go on when it is whole", async () => {
  await BackupWorld.run({ spec: small }, async (scene) => {
    await scene.create({ suspendOnUnhealthy: true });
    await scene.untilRestorable();
    await scene.advance(minuteMs);
    assert.deepEqual(await scene.reasons(), []);
    const [victim] = await scene.world.pods("storage");
    const node = victim?.spec?.nodeName ?? "";
    await scene.world.world.kubelet.stopNode(node);
    await scene.until(({ state }) => state === "Paused", "the pause");
    assert.ok((await scene.reasons()).includes("BackupSuspended"));
    await scene.world.world.kubelet.startNode(node);
    await scene.until(({ state }) => state === "RunningDifferentially", "the end of it");
    await scene.advance(2 * minuteMs);
    assert.deepEqual(await scene.reasons(), []);
    assert.deepEqual(scene.begun(), ["describe", "start"]);
    scene.world.assertDataSafe();
  });
});
