// Steps that the cases of a cluster's backups share: the resources, waiting for what they say, and taking all away.
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { BackupSpec, BackupStatus } from "../../src/api/backup.ts";
import { apiVersion } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import type { RestoreSpec, RestoreStatus } from "../../src/api/restore.ts";
import { secrets } from "../../src/kube/resource.ts";
import { clusterOf, lifeKey, until } from "./life-target.ts";
import type { LifeStore, LifeTarget } from "./life-target.ts";

const { namespace } = lifeKey;
const backupKey = { namespace, name: "life" };
const frugal = { requests: { cpu: "10m", memory: "16Mi" } };

/** Into a container of its own, with the Secret that its agents mount. */
export async function createBackup(
  target: LifeTarget,
  store: LifeStore,
  change: Partial<BackupSpec> = {},
): Promise<void> {
  const { client } = target.world;
  const { spec } = await clusterOf(target);
  const { accountName, bucket, urlParameters } = store;
  const backupName = `life-${Math.floor(target.world.clock.nowMs() / 1000)}`;
  const file = Buffer.from(store.credentials).toString("base64");
  await client.create(secrets, {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "store" } },
    data: { "blob.json": file },
  });
  await client.create(foundationDbBackups, {
    ...{ apiVersion, kind: "FoundationDBBackup", metadata: backupKey },
    spec: {
      ...{ version: spec.version, clusterName: lifeKey.name, imageType: "unified", agentCount: 1 },
      ...{ snapshotPeriodSeconds: 3600, deletionPolicy: "stop" },
      blobStoreConfiguration: {
        accountName,
        backupName,
        bucket,
        urlParameters: [...urlParameters],
      },
      podTemplateSpec: agentTemplate,
      ...change,
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

export async function changeBackup(target: LifeTarget, spec: Partial<BackupSpec>): Promise<void> {
  await target.world.client.patch(foundationDbBackups, backupKey, { spec }, { type: "merge" });
}

export async function backupStatusOf({ world }: LifeTarget): Promise<BackupStatus> {
  return (await world.client.get(foundationDbBackups, backupKey)).status ?? {};
}

/** Something may be done before each look. */
export function untilBackup(
  target: LifeTarget,
  what: string,
  isSo: (status: BackupStatus) => boolean,
  meanwhile: () => Promise<void> = async () => {},
  seconds?: number,
): Promise<void> {
  let last: BackupStatus = {};
  const look = async (): Promise<boolean> => {
    await meanwhile();
    last = await backupStatusOf(target);
    return isSo(last);
  };
  return until(target, () => `${what}: ${JSON.stringify(last)}`, look, seconds);
}

export async function createRestore(
  { world }: LifeTarget,
  name: string,
  spec: Omit<RestoreSpec, "fromBackup">,
): Promise<void> {
  await world.client.create(foundationDbRestores, {
    ...{ apiVersion, kind: "FoundationDBRestore", metadata: { namespace, name } },
    spec: { fromBackup: backupKey.name, ...spec },
  });
}

export async function untilRestore(
  target: LifeTarget,
  name: string,
  what: string,
  isSo: (status: RestoreStatus) => boolean,
): Promise<RestoreStatus> {
  let last: RestoreStatus = {};
  const look = async (): Promise<boolean> => {
    last = (await target.world.client.get(foundationDbRestores, { namespace, name })).status ?? {};
    return isSo(last);
  };
  await until(target, () => `${what}: ${JSON.stringify(last)}`, look);
  return last;
}

export function untilRestored(target: LifeTarget, name: string): Promise<RestoreStatus> {
  return untilRestore(
    target,
    name,
    "the restore has ended",
    ({ endTime }) => endTime !== undefined,
  );
}

/** Later cases find the cluster as it was. */
export async function removeBackup(target: LifeTarget, restores: readonly string[]): Promise<void> {
  const { client } = target.world;
  const keys = restores.map((name) => ({ namespace, name }));
  for (const key of keys) await client.delete(foundationDbRestores, key);
  await client.delete(foundationDbBackups, backupKey);
  await until(target, "backup and restores are gone", async () => {
    const found = await Promise.all([
      ...keys.map((key) => client.find(foundationDbRestores, key)),
      client.find(foundationDbBackups, backupKey),
    ]);
    return found.every((each) => each === undefined);
  });
  await client.delete(secrets, { namespace, name: "store" });
}
