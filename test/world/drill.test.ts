// Drills: the backup is restored into a cluster of its own, looked at, and everything is removed. Rules: spec/backup.md.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { Verification } from "../../src/api/backup-verification.ts";
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { BackupStatus } from "../../src/api/backup.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { pods, secrets } from "../../src/kube/resource.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { drillRules } from "../../src/operate/permissions.ts";
import { ObjectStore } from "../../src/sim/backup/object-store.ts";
import { exampleText } from "./example.ts";
import { nightly } from "./managed-backup.ts";
import { checkOf, DrillWorld, hourly } from "./managed-drill.ts";
import { frugalProcesses, hourMs, minuteMs, TestWorld, tiny } from "./world-harness.ts";

test("[BK160][BK162][BK164][BK166][BK169][BK170] a drill restores the newest point into a cluster of its own, says what it found, and leaves nothing behind (long)", async () => {
  await DrillWorld.runDrills({}, async (scene) => {
    assert.equal(await scene.condition("Verified"), "Unknown NotTried");
    await scene.untilDrill("Restoring");
    const { drill } = await scene.status();
    const { name = "" } = drill ?? {};
    const cluster = await scene.world.cluster({ name });
    assert.equal(cluster.metadata.ownerReferences?.[0]?.kind, "FoundationDBBackup");
    assert.equal(cluster.spec.version, "7.3.63");
    assert.deepEqual(drill?.source, { keys: 3, bytes: 6 });
    assert.equal((await scene.restore(name))?.metadata.ownerReferences?.[0]?.name, "nightly");
    const before = await scene.content("sample");
    const verdict = await scene.untilVerdict();
    assert.equal(verdict.result, "Passed", verdict.message);
    assert.equal(verdict.keys, 3);
    assert.ok((verdict.version ?? 0) > 0 && verdict.lastPassed !== undefined);
    assert.equal(await scene.condition("Verified"), "True Passed");
    await scene.untilRemoved();
    assert.deepEqual(await scene.leftovers(), []);
    assert.deepEqual(await scene.content("sample"), before);
    assert.equal((await scene.world.events("BackupDrillStarted")).length, 1);
    assert.equal((await scene.world.events("BackupDrillPassed")).length, 1);
    assert.equal(await scene.condition("Reconciled"), "True ReconciliationComplete");
  });
});

test("[BK167] the check of the user decides: its pod has the cluster file, and exit code 0 is good (long)", async () => {
  const good = checkOf("sleep 60; true");
  await DrillWorld.runDrills(
    { backup: { verification: hourly({ check: good }) } },
    async (scene) => {
      await scene.untilDrill("Checking");
      const { name = "" } = (await scene.status()).drill ?? {};
      await scene.advance(10_000);
      const pod = await scene.world.client.get(pods, {
        namespace: "default",
        name: `${name}-check`,
      });
      assert.equal(pod.spec?.restartPolicy, "Never");
      assert.equal(pod.spec?.activeDeadlineSeconds, 3600);
      const [container] = pod.spec?.containers ?? [];
      const file = container?.env?.find((each) => each.name === "FDB_CLUSTER_FILE")?.value ?? "";
      assert.ok(container?.volumeMounts?.some(({ mountPath }) => file.startsWith(`${mountPath}/`)));
      const volume = pod.spec?.volumes?.find(
        ({ configMap }) => configMap?.name === `${name}-config`,
      );
      assert.ok(volume !== undefined);
      assert.equal((await scene.agents()).length, 2, "it is not taken for an agent");
      assert.equal((await scene.untilVerdict()).result, "Passed");
      await scene.change({ verification: { check: checkOf("sleep 5; exit 3") } });
      await scene.untilRemoved();
      const verdict = await scene.untilVerdict();
      assert.equal(verdict.result, "Failed");
      assert.match(verdict.message ?? "", /^the check in pod drill-\S+ failed with exit code 3/);
      assert.ok(verdict.lastPassed !== undefined, "the last good one stays known");
      assert.equal(await scene.condition("Verified"), "False Failed");
      const [event] = await scene.world.events("BackupDrillFailed");
      assert.equal(event?.type, "Warning");
      await scene.untilRemoved();
      assert.deepEqual(await scene.leftovers(), []);
    },
  );
});

test("[BK168] a bucket that has lost files fails the drill, which says why and is removed (long)", async () => {
  // No second snapshot is written meanwhile.
  await DrillWorld.runDrills({ backup: { snapshotPeriodSeconds: 864_000 } }, async (scene) => {
    assert.ok(scene.store.lose("backups", ({ content }) => content.kind === "range") > 0);
    const verdict = await scene.untilVerdict(3 * hourMs);
    assert.equal(verdict.result, "Failed");
    assert.match(verdict.message ?? "", /restore drill-\S+ does not get on: .*Missing backup data/);
    assert.match(verdict.duration ?? "", /^(\dm)?\d+s$/, "not only after half an hour");
    await scene.untilRemoved();
    assert.deepEqual(await scene.leftovers(), []);
    // The backup itself goes on, and so do its drills.
    assert.equal(await scene.condition("Running"), "True RunningDifferentially");
  });
});

test("[BK161] a drill that is due while the one before goes on, or while the backup is paused, is skipped and said (long)", async () => {
  const slow = hourly({ check: checkOf("sleep 5000; true", 6000), deadline: "2h" });
  await DrillWorld.runDrills({ backup: { verification: slow } }, async (scene) => {
    await scene.untilDrill("Checking");
    await scene.until(
      ({ verification }) => verification?.skipped !== undefined,
      "skipped",
      2 * hourMs,
    );
    const { verification, drill } = await scene.status();
    assert.equal(verification?.skipped?.message, `the drill of ${drill?.time} has not ended`);
    assert.equal((await scene.untilVerdict()).result, "Passed");
    await scene.untilRemoved();
    await scene.change({ backupState: "Paused" });
    for (const count of [2, 3]) {
      await scene.until(
        (status) => status.verification?.skipped?.count === count,
        "skipped",
        2 * hourMs,
      );
    }
    assert.equal(
      (await scene.status()).verification?.skipped?.message,
      "spec.backupState is Paused",
    );
    assert.equal(await scene.condition("Verified"), "False Skipped");
    assert.deepEqual(await scene.leftovers(), []);
    assert.ok((await scene.world.events("BackupDrillSkipped")).length >= 2);
  });
});

test("[BK168][BK170] a drill that does not end by its deadline fails with what it waited for, and is removed (long)", async () => {
  const verification = hourly({ check: checkOf("sleep 100000"), deadline: "20m" });
  await DrillWorld.runDrills({ backup: { verification } }, async (scene) => {
    const verdict = await scene.untilVerdict();
    assert.equal(verdict.result, "Failed");
    assert.match(
      verdict.message ?? "",
      /^it had not ended after 20m\. The check runs in pod drill-/,
    );
    await scene.untilRemoved();
    assert.deepEqual(await scene.leftovers(), []);
  });
});

test("[BK163] volumes that are too small are said before anything is made, and the drill goes on when there is room (long)", async () => {
  const sized = (storage: string): Verification => {
    const claim = { metadata: {}, spec: { resources: { requests: { storage } } } };
    const processes = { ...frugalProcesses, storage: { volumeClaimTemplate: claim } };
    return hourly({ template: { spec: { ...tiny, processes } } });
  };
  await DrillWorld.runDrills({ backup: { verification: sized("10") } }, async (scene) => {
    const isTooSmall = ({ blockedBy = [] }: BackupStatus): boolean =>
      blockedBy.some(({ reason }) => reason === "BackupDrillTooSmall");
    await scene.until(isTooSmall, "too small", 2 * hourMs);
    const wait = (await scene.status()).blockedBy?.find(
      ({ reason }) => reason === "BackupDrillTooSmall",
    );
    assert.match(wait?.message ?? "", /hold 10 bytes in all, and a restore of 6 bytes .* needs 12/);
    await scene.advance(5 * minuteMs);
    assert.deepEqual(await scene.leftovers(), []);
    await scene.change({ verification: sized("1Gi") });
    assert.equal((await scene.untilVerdict()).result, "Passed");
  });
});

for (const policy of ["noop", "cleanup"] as const) {
  test(`[BK170] deleting the backup (${policy}) in the middle of a drill removes the drill (long)`, async () => {
    await DrillWorld.runDrills({ backup: { deletionPolicy: policy } }, async (scene) => {
      await scene.annotate({ "foundationdb.org/delete-last-backup": "nightly" });
      await scene.untilDrill("Restoring");
      await scene.advance(20_000);
      await scene.world.client.delete(foundationDbBackups, nightly);
      await scene.untilGone();
      await scene.world.until(async () => (await scene.leftovers()).length === 0, "nothing left");
      assert.deepEqual(await scene.content("sample"), ["a=1", "b=2", "c=3"]);
    });
  });
}

test("[BK170] a drill goes when verification is taken out of the spec, or the spec becomes invalid (long)", async () => {
  await DrillWorld.runDrills({}, async (scene) => {
    await scene.untilDrill("Restoring");
    await scene.change({ verification: null });
    await scene.untilRemoved();
    await scene.world.until(async () => (await scene.leftovers()).length === 0, "nothing left");
    assert.equal(await scene.condition("Verified"), "undefined undefined");
    await scene.change({ verification: hourly() });
    await scene.untilDrill("Creating");
    await scene.change({ lagAlarm: "1s" });
    await scene.world.until(async () => (await scene.leftovers()).length === 0, "nothing left");
    await scene.change({ lagAlarm: "10m" });
    assert.equal((await scene.untilVerdict()).result, "Passed");
  });
});

test("[BK171] without the right nothing is made and the wait says how to give it; with it the drill uses exactly that (long)", async () => {
  await DrillWorld.runDrills({}, async (scene) => {
    const extra = new Set(
      drillRules.flatMap(({ resources, verbs }) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
      ),
    );
    const used = new Set<string>();
    let isGiven = false;
    const { context } = scene.world.world.server;
    context.authorize = ({ userName, verb, resource }) => {
      const right = `${verb} ${resource}`;
      if (userName !== "fdb-operator" || !extra.has(right)) return true;
      if (isGiven) used.add(right);
      return isGiven;
    };
    const isForbidden = ({ blockedBy = [] }: BackupStatus): boolean =>
      blockedBy.some(({ reason }) => reason === "BackupDrillForbidden");
    await scene.until(isForbidden, "forbidden", 2 * hourMs);
    const wait = (await scene.status()).blockedBy?.find(
      ({ reason }) => reason === "BackupDrillForbidden",
    );
    assert.match(wait?.remedy ?? "", /set drillAccess of the chart to true/);
    await scene.advance(5 * minuteMs);
    assert.deepEqual(await scene.leftovers(), []);
    assert.equal(await scene.condition("Running"), "True RunningDifferentially");
    isGiven = true;
    assert.equal((await scene.untilVerdict()).result, "Passed");
    await scene.untilRemoved();
    assert.deepEqual(used, extra);
  });
});

test("[BK160] the example of the manual passes its drill (long)", async () => {
  await TestWorld.runWithCluster({}, async (world) => {
    const resources: Readonly<Record<string, Resource<KubeObject>>> = {
      Secret: secrets,
      FoundationDBBackup: foundationDbBackups,
    };
    for (const document of parseAllDocuments(exampleText("backup-drill.yaml"))) {
      const object = document.toJS() as KubeObject;
      const resource = resources[object.kind];
      assert.ok(resource !== undefined);
      const metadata = { namespace: "default", ...object.metadata };
      await world.client.create(resource, { ...object, metadata });
    }
    assert.equal((await world.events("SpecWarning")).length, 0);
    const scene = new DrillWorld(world, new ObjectStore());
    await scene.write("sample", { a: "1", b: "2" });
    await scene.untilRestorable();
    const next = Date.parse((await scene.status()).verification?.next ?? "");
    assert.equal(new Date(next).getUTCDay(), 0);
    // Not to live through days.
    await scene.change({ verification: { schedule: { cron: "0 * * * *" } } });
    const { result, message } = await scene.untilVerdict();
    assert.equal(result, "Passed", message);
  });
});
