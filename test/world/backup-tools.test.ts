// Backup and restore with the simulated tools alone, as containers of the emulated cluster: a Deployment of agents, bare
// pods for the commands. What is restored is compared key by key with the source at that version.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { pods } from "../../src/kube/resource.ts";
import {
  agentPods,
  backupUrl,
  clusterFile,
  createAgents,
  createStore,
  jsonOf,
  runCommand,
} from "./backup-harness.ts";
import { minuteMs, TestWorld, tiny } from "./world-harness.ts";

interface BackupStatus {
  Status: { Name: string };
  Restorable: boolean;
  BackupAgentsPaused: boolean;
  LatestRestorablePoint?: { Version: number; LagSeconds: number };
}

async function connectionOf(world: TestWorld, name: string): Promise<string> {
  return (await world.cluster({ name })).status?.connectionString ?? "";
}

async function write(
  world: TestWorld,
  name: string,
  entries: Record<string, string>,
): Promise<void> {
  const connectionString = await connectionOf(world, name);
  const admin = world.world.fdb.admin.open({ name: "test", connectionString, version: "7.3.63" });
  const written = admin.transact(
    async (transaction) => {
      for (const [key, value] of Object.entries(entries))
        transaction.set(Buffer.from(key), Buffer.from(value));
    },
    { timeoutMs: minuteMs },
  );
  await world.during(written, minuteMs, "a write");
  admin.close();
}

async function contentOf(world: TestWorld, name: string, version?: number): Promise<string[]> {
  const record = world.world.fdb.record(await connectionOf(world, name));
  const content =
    record?.contentAt(version ?? Number.MAX_SAFE_INTEGER) ?? new Map<string, Uint8Array>();
  return [...content]
    .filter(([key]) => key < "\xff")
    .map(([key, value]) => `${key}=${Buffer.from(value).toString()}`);
}

const cluster = ["-C", clusterFile];

async function statusOf(world: TestWorld): Promise<BackupStatus> {
  const end = await runCommand(world, "sample", [
    "fdbbackup",
    "status",
    ...cluster,
    "-t",
    "daily",
    "--json",
  ]);
  assert.equal(end.code, 0);
  return jsonOf(end) as unknown as BackupStatus;
}

async function withBackup(body: (world: TestWorld) => Promise<void>): Promise<void> {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    await createStore(world);
    await createAgents(world, "sample", 2);
    await world.clock.advance(minuteMs);
    await write(world, "sample", { a: "1", b: "2" });
    const start = ["start", ...cluster, "-d", backupUrl("daily"), "-t", "daily", "-z", "-s", "60"];
    const end = await runCommand(world, "sample", ["fdbbackup", ...start]);
    assert.deepEqual([end.phase, end.code], ["Succeeded", 0], end.log);
    assert.equal(end.log, "The backup on tag `daily' was successfully submitted.\n");
    await body(world);
  });
}

test("[KUBELET79] [BSIM17] agents of a Deployment back up, command pods ask and change, and a restore equals the source", async () => {
  await withBackup(async (world) => {
    await world.clock.advance(20_000);
    await write(world, "sample", { b: "3", c: "4" });
    await world.clock.advance(minuteMs);
    const running = await statusOf(world);
    assert.deepEqual([running.Status.Name, running.Restorable], ["RunningDifferentially", true]);
    const pause = await runCommand(world, "sample", ["fdbbackup", "pause", ...cluster]);
    assert.equal(pause.log, "All backup agents have been paused.\n");
    await world.clock.advance(minuteMs);
    const paused = await statusOf(world);
    assert.equal(paused.BackupAgentsPaused, true);
    assert.ok((paused.LatestRestorablePoint?.LagSeconds ?? 0) > 60);
    await runCommand(world, "sample", ["fdbbackup", "resume", ...cluster]);
    await world.clock.advance(30_000);
    assert.ok(((await statusOf(world)).LatestRestorablePoint?.LagSeconds ?? 99) < 30);
    const described = await runCommand(world, "sample", [
      "fdbbackup",
      "describe",
      "-d",
      backupUrl("daily"),
      "--json",
    ]);
    const { Snapshots } = jsonOf(described) as {
      Snapshots: { Start: { Version: number }; End: { Version: number } }[];
    };
    const [, second] = Snapshots;
    const cut = [
      "--expire-before-version",
      String(second?.Start.Version),
      "--restorable-after-version",
      String(second?.End.Version),
    ];
    const expired = await runCommand(world, "sample", [
      "fdbbackup",
      "expire",
      "-d",
      backupUrl("daily"),
      ...cut,
    ]);
    assert.equal(expired.code, 0, expired.log);
    const version = Number((await statusOf(world)).LatestRestorablePoint?.Version);
    const stopped = await runCommand(world, "sample", [
      "fdbbackup",
      "discontinue",
      ...cluster,
      "-t",
      "daily",
    ]);
    assert.equal(stopped.log, "The backup on tag `daily' was successfully discontinued.\n");

    await world.createCluster(tiny, { name: "copy" });
    await world.untilReconciled(10 * minuteMs, { name: "copy" });
    await createAgents(world, "copy", 1);
    await world.clock.advance(minuteMs);
    const restore = [
      "start",
      "--dest-cluster-file",
      clusterFile,
      "-r",
      backupUrl("daily"),
      "-v",
      String(version),
      "-w",
    ];
    const restored = await runCommand(world, "copy", ["fdbrestore", ...restore]);
    assert.equal(restored.code, 0, restored.log);
    assert.match(restored.log, new RegExp(`\nRestored to version ${version}\n$`));
    assert.deepEqual(await contentOf(world, "copy"), ["a=1", "b=3", "c=4"]);
    assert.deepEqual(await contentOf(world, "copy"), await contentOf(world, "sample", version));
  });
});

test("[KUBELET79] [BSIM22] agents that are killed come back by their Deployment, and the layers tell of the dead for a while", async () => {
  await withBackup(async (world) => {
    await world.clock.advance(minuteMs);
    const before = await agentPods(world, "sample");
    assert.equal(before.length, 2);
    for (const { metadata } of before) {
      await world.client.delete(
        pods,
        { namespace: "default", name: metadata.name ?? "" },
        { gracePeriodSeconds: 0 },
      );
    }
    await world.clock.advance(45_000);
    const admin = world.world.fdb.admin.open({
      ...{ name: "test", connectionString: await connectionOf(world, "sample"), version: "7.3.63" },
    });
    const running = async (): Promise<number> => {
      const status = await world.during(admin.status(minuteMs), minuteMs, "a status");
      const layer = status.cluster?.layers?.["backup"] as
        | { instances_running?: number }
        | undefined;
      return layer?.instances_running ?? 0;
    };
    assert.equal(await running(), 4);
    await world.clock.advance(2 * minuteMs);
    assert.equal(await running(), 2);
    admin.close();
    assert.ok(((await statusOf(world)).LatestRestorablePoint?.LagSeconds ?? 99) < 30);
  });
});

test("[KUBELET80] [KUBELET81] [BSIM2] a refused command tells why in its message, one that hangs meets its deadline", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    const store = await createStore(world, "WRONG");
    const describe = ["fdbbackup", "describe", "-d", backupUrl("daily"), "--json"];
    const refused = await runCommand(world, "sample", describe);
    const words = "HTTP response code not received or indicated failure";
    assert.deepEqual(
      [refused.phase, refused.code, refused.message],
      ["Failed", 1, `ERROR: ${words}\nFatal Error: ${words}\n`],
    );
    store.fail({ isHanging: true });
    const held = await runCommand(world, "sample", describe, 60);
    assert.deepEqual(
      [held.phase, held.pod.status?.reason, held.log],
      ["Failed", "DeadlineExceeded", ""],
    );
    assert.notEqual(held.code, 0);
    const unknown = await runCommand(world, "sample", [
      "fdbbackup",
      "status",
      ...cluster,
      "--nonsense",
    ]);
    assert.equal(
      unknown.message,
      "ERROR: unknown option `--nonsense'\nTry `fdbbackup --help' for more information.\n",
    );
  });
});

test("[BSIM1] every world has an object store of its own, and a container pod reaches it", async () => {
  await TestWorld.runWithCluster({ spec: tiny }, async (world) => {
    await createStore(world);
    const url =
      "blobstore://demo:demo-secret@object-store.example.com/?bucket=fdb-backups&region=eu-1";
    const end = await runCommand(world, "sample", ["fdbbackup", "list", "-b", url]);
    assert.deepEqual([end.code, end.log], [0, ""]);
  });
});
