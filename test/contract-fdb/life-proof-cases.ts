// Backups that prove themselves, all by resources: users write while the backup runs, what is restored into an empty cluster is
// compared key by key, old data is expired, and drills tell a good backup from a damaged one.
// Rules: spec/real-database.md [DB79].
import assert from "node:assert/strict";
import { apiVersion, foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import { readBackupLayer } from "../../src/fdb/backup-layer.ts";
import type { BackupLayer } from "../../src/fdb/backup-layer.ts";
import { formatTime, parseTime } from "../../src/kube/time.ts";
import { BackupLoad, empty, loadRange } from "./backup-load.ts";
import {
  backupStatusOf,
  changeBackup,
  createBackup,
  createRestore,
  removeBackup,
  untilBackup,
  untilRestore,
  untilRestored,
} from "./life-backup-steps.ts";
import { clusterOf, lifeKey, until } from "./life-target.ts";
import type { LifeCase, LifeTarget } from "./life-target.ts";

const { namespace } = lifeKey;
const copyKey = { namespace, name: "copy" };
/** Transactions between two looks. */
const pace = 5;
const snapshotSeconds = 15;
const retention = { restorableFor: "1m", interval: "10m" };
const restorableForMs = 60_000;
const drillSeconds = 900;

export const lifeProofCases: readonly LifeCase[] = [
  {
    title:
      "[DB79] a backup under write load comes back key by key, keeps the window that it promises, and drills find out when it is damaged",
    needs: "object-store",
    async run(target) {
      const { store } = target;
      assert.ok(store !== undefined, "there is no S3 server");
      const load = new BackupLoad(target, 5);
      await load.begin();
      await load.write(100);
      await createBackup(target, store, { snapshotPeriodSeconds: snapshotSeconds });
      const copy = await createCopy(target);
      const write = (): Promise<void> => load.write(pace);
      const isRestorable = "the backup is restorable";
      await untilBackup(target, isRestorable, ({ restorable }) => restorable !== undefined, write);
      const early = await calm(target, load);
      await untilRestorableTo(target, early.version, write);
      const late = await calm(target, load);
      await untilRestorableTo(target, late.laterVersion, write);

      await createRestore(target, "to-version", {
        ...{ destinationClusterName: copyKey.name, to: { version: early.version } },
      });
      await restored(target, copy, load, "to-version", early.number);
      await createRestore(target, "to-time", {
        ...{ destinationClusterName: copyKey.name, to: { time: formatTime(late.timeMs) } },
      });
      await restored(target, copy, load, "to-time", late.number);

      await expired(target, write);
      await createRestore(target, "too-old", {
        ...{ destinationClusterName: copyKey.name, to: { version: early.version } },
      });
      await untilRestore(target, "too-old", "it is refused", ({ blockedBy = [] }) =>
        blockedBy.some(({ reason }) => reason === "RestoreOutsideWindow"),
      );
      await drilled(target, "Passed", write);
      // Every file that a snapshot has written is lost, and so is what the next ones write.
      await drilled(target, "Failed", async () => {
        store.lose((key) => key.includes("/kvranges/"));
      });
      await removeBackup(target, ["to-version", "to-time", "too-old"]);
      await load.begin();
      await removeCopy(target, copy);
    },
  },
];

async function createCopy(target: LifeTarget): Promise<AdminClient> {
  const { spec } = await clusterOf(target);
  await target.world.client.create(foundationDbClusters, {
    ...{ apiVersion, kind: "FoundationDBCluster", metadata: copyKey },
    spec: { ...smallest(spec), version: spec.version },
  });
  return target.open(copyKey.name);
}

/** With all that the cluster has but its size. */
function smallest({ processes, routing }: ClusterSpec): Omit<ClusterSpec, "version"> {
  return {
    ...{ processes, routing },
    databaseConfiguration: { redundancy_mode: "single", storage_engine: "ssd-2" },
    processCounts: { storage: 1, log: 1, stateless: 1 },
  };
}

async function removeCopy({ world, ...target }: LifeTarget, copy: AdminClient): Promise<void> {
  copy.close();
  await world.client.delete(foundationDbClusters, copyKey);
  await until({ world, ...target }, "the copy is gone", async () => {
    return (await world.client.find(foundationDbClusters, copyKey)) === undefined;
  });
}

interface Calm {
  /** Of the last transaction before it. */
  readonly number: number;
  readonly version: number;
  readonly timeMs: number;
  /** Behind that time. */
  readonly laterVersion: number;
}

/** Nobody writes for a while, so that a version and a time in it name one state of the keys. */
async function calm(target: LifeTarget, load: BackupLoad): Promise<Calm> {
  const { clock } = target.world;
  await load.write(pace);
  const begunMs = clock.nowMs();
  const noted = async (afterMs: number): Promise<BackupLayer["times"][number]> => {
    let newest: BackupLayer["times"][number] | undefined;
    await until(target, "the database notes the time", async () => {
      newest = (await layerOf(target)).times[0];
      return newest !== undefined && newest.seconds * 1000 > afterMs;
    });
    assert.ok(newest !== undefined);
    return newest;
  };
  const first = await noted(begunMs + 1000);
  const timeMs = (first.seconds + 5) * 1000;
  const second = await noted(timeMs);
  return {
    ...{ number: load.number, version: first.version, timeMs, laterVersion: second.version },
  };
}

function layerOf({ admin, finish }: LifeTarget): Promise<BackupLayer> {
  return finish(readBackupLayer(admin, { tag: "default" }, 60_000));
}

async function untilRestorableTo(
  target: LifeTarget,
  version: number,
  meanwhile: () => Promise<void>,
): Promise<void> {
  await until(target, `version ${version} is restorable`, async () => {
    await meanwhile();
    return ((await layerOf(target)).record?.restorableTo ?? 0) >= version;
  });
}

/** Every key of the copy is as it was after a transaction; the copy is empty again. */
async function restored(
  target: LifeTarget,
  copy: AdminClient,
  load: BackupLoad,
  name: string,
  number: number,
): Promise<void> {
  const status = await untilRestored(target, name);
  assert.equal(status.state, "completed", JSON.stringify(status));
  assert.equal(await load.verify(copy, loadRange), number);
  await target.data.verify("", copy);
  await empty(target, copy);
}

/** The retention takes away what it may, and nothing else, as the store says afterwards. */
async function expired(target: LifeTarget, meanwhile: () => Promise<void>): Promise<void> {
  await changeBackup(target, { retention });
  await untilBackup(
    target,
    "old data is expired, and the window begins where the store says",
    ({ expiry, restorable }) =>
      expiry?.before !== undefined && restorable?.from?.version === expiry.restorableFrom,
    meanwhile,
  );
  const { expiry, restorable } = await backupStatusOf(target);
  const fromMs = parseTime(restorable?.from?.time) ?? Infinity;
  const promisedMs = (parseTime(expiry?.time) ?? 0) - restorableForMs;
  assert.ok(fromMs <= promisedMs, `${JSON.stringify(restorable)} ${JSON.stringify(expiry)}`);
}

/** A drill is due in the next minute, and ends so. */
async function drilled(
  target: LifeTarget,
  result: "Passed" | "Failed",
  meanwhile: () => Promise<void>,
): Promise<void> {
  const { spec } = await clusterOf(target);
  const before = (await backupStatusOf(target)).lastVerification?.time;
  const minute = new Date(target.world.clock.nowMs() + 75_000).getUTCMinutes();
  await changeBackup(target, {
    verification: {
      ...{ schedule: { cron: `${minute} * * * *` }, deadline: "10m" },
      template: { spec: smallest(spec) },
    },
  });
  const isOver = "the drill has its verdict and is removed";
  await untilBackup(
    target,
    isOver,
    ({ drill, lastVerification: last }) => drill === undefined && last?.time !== before,
    meanwhile,
    drillSeconds,
  );
  const { lastVerification } = await backupStatusOf(target);
  assert.equal(lastVerification?.result, result, lastVerification?.message);
}
