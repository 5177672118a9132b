// A cluster whose backup is a resource: agents and commands run as pods, into an S3 server, and a second resource brings the
// data back under another prefix. Rules: spec/real-database.md [DB78].
import assert from "node:assert/strict";
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { BackupSpec, BackupStatus } from "../../src/api/backup.ts";
import { apiVersion } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { bytesOfText, prefixEnd } from "../../src/fdb/bytes.ts";
import { secrets } from "../../src/kube/resource.ts";
import { lifePrefix } from "./life-data.ts";
import { clusterOf, lifeKey, until } from "./life-target.ts";
import type { LifeCase, LifeStore, LifeTarget } from "./life-target.ts";

const { namespace } = lifeKey;
const backupKey = { namespace, name: "life" };
const restoreKey = { namespace, name: "again" };
const copyPrefix = "copy/";
const frugal = { requests: { cpu: "10m", memory: "16Mi" } };
const patienceSeconds = 300;

export const lifeBackupCases: readonly LifeCase[] = [
  {
    title:
      "[DB78] agents in pods back the cluster up into a bucket, and a restore brings back what it held",
    needs: "object-store",
    async run(target) {
      const { data, store, world } = target;
      assert.ok(store !== undefined, "there is no S3 server");
      await createBackup(target, store);
      await untilBackup(target, "the backup is restorable", ({ backupDetails }) =>
        Boolean(backupDetails?.restorable),
      );
      await data.write();
      // The restorable point is at most forty seconds behind.
      await target.pass(60);
      await world.client.create(foundationDbRestores, {
        ...{ apiVersion, kind: "FoundationDBRestore", metadata: restoreKey },
        spec: {
          ...{ destinationClusterName: lifeKey.name, fromBackup: backupKey.name },
          to: { latest: true },
          keyRanges: [{ start: lifePrefix, end: "life0" }],
          addPrefix: copyPrefix,
        },
      });
      await untilRestored(target);
      await data.verify(copyPrefix);
      await removeAll(target);
    },
  },
];

async function createBackup(target: LifeTarget, store: LifeStore): Promise<void> {
  const { client } = target.world;
  const { spec } = await clusterOf(target);
  const { accountName, bucket, urlParameters } = store;
  const file = Buffer.from(store.credentials).toString("base64");
  await client.create(secrets, {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "store" } },
    data: { "blob.json": file },
  });
  await client.create(foundationDbBackups, {
    ...{ apiVersion, kind: "FoundationDBBackup", metadata: backupKey },
    spec: {
      ...{ version: spec.version, clusterName: lifeKey.name, imageType: "unified", agentCount: 1 },
      snapshotPeriodSeconds: 3600,
      blobStoreConfiguration: { accountName, bucket, urlParameters: [...urlParameters] },
      podTemplateSpec: agentTemplate,
    },
  });
}

const agentTemplate: NonNullable<BackupSpec["podTemplateSpec"]> = {
  spec: {
    containers: [
      {
        name: "foundationdb",
        env: [{ name: "FDB_BLOB_CREDENTIALS", value: "/var/store/blob.json" }],
        resources: frugal,
        volumeMounts: [{ name: "store", mountPath: "/var/store" }],
      },
    ],
    initContainers: [{ name: "foundationdb-kubernetes-init", resources: frugal }],
    volumes: [{ name: "store", secret: { secretName: "store" } }],
  },
};

function untilBackup(
  target: LifeTarget,
  what: string,
  isSo: (status: BackupStatus) => boolean,
): Promise<void> {
  let last: BackupStatus = {};
  const look = async (): Promise<boolean> => {
    last = (await target.world.client.get(foundationDbBackups, backupKey)).status ?? {};
    return isSo(last);
  };
  return until(target, () => `${what}: ${JSON.stringify(last)}`, look, patienceSeconds);
}

function untilRestored(target: LifeTarget): Promise<void> {
  let last: object = {};
  const look = async (): Promise<boolean> => {
    const { status = {} } = await target.world.client.get(foundationDbRestores, restoreKey);
    last = status;
    return status.endTime !== undefined;
  };
  const what = (): string => `the restore has ended: ${JSON.stringify(last)}`;
  return until(target, what, look, patienceSeconds);
}

/** Later cases find the cluster as it was. */
async function removeAll(target: LifeTarget): Promise<void> {
  const { client } = target.world;
  await client.delete(foundationDbRestores, restoreKey);
  await client.delete(foundationDbBackups, backupKey);
  await until(target, "both resources are gone", async () => {
    const found = await Promise.all([
      client.find(foundationDbRestores, restoreKey),
      client.find(foundationDbBackups, backupKey),
    ]);
    return found.every((each) => each === undefined);
  });
  await client.delete(secrets, { namespace, name: "store" });
  const begin = bytesOfText(copyPrefix);
  await target.finish(
    target.admin.transact(async (each) => each.clearRange(begin, prefixEnd(begin)), {
      timeoutMs: 60_000,
    }),
  );
}
