// Backups that the operator looks after, in a whole world: a resource, its store and its agents, and small helpers to let
// time pass until something holds.
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { BackupSpec, BackupStatus, FoundationDBBackup } from "../../src/api/backup.ts";
import { apiVersion } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import { pods } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { ObjectStore } from "../../src/sim/backup/object-store.ts";
import { createStore } from "./backup-harness.ts";
import { minuteMs, TestWorld } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const namespace = "default";
export const nightly = { namespace, name: "nightly" };
const frugal = { requests: { cpu: "10m", memory: "16Mi" } };

/** Agents with the credentials of the store of `createStore`. */
export const agentTemplate: NonNullable<BackupSpec["podTemplateSpec"]> = {
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

export function backupOf(
  spec: Partial<BackupSpec> = {},
  name = "nightly",
): Stored<FoundationDBBackup> {
  return {
    apiVersion,
    kind: "FoundationDBBackup",
    metadata: { name, namespace },
    spec: {
      version: "7.3.63",
      clusterName: "sample",
      imageType: "unified",
      snapshotPeriodSeconds: 60,
      blobStoreConfiguration: {
        accountName: "KEY@store.example.com",
        bucket: "backups",
        urlParameters: ["region=eu-1"],
      },
      podTemplateSpec: agentTemplate,
      ...spec,
    },
  };
}

export class BackupWorld {
  readonly world: TestWorld;
  readonly store: ObjectStore;

  constructor(world: TestWorld, store: ObjectStore) {
    this.world = world;
    this.store = store;
  }

  /** A cluster at rest and a store, and no backup yet. */
  static run(
    options: TestWorldOptions & { secret?: string; spec?: Partial<ClusterSpec> },
    body: (scene: BackupWorld) => Promise<void>,
  ): Promise<void> {
    const { secret, ...rest } = options;
    return TestWorld.runWithCluster(rest, async (world) => {
      await body(new BackupWorld(world, await createStore(world, secret)));
    });
  }

  async create(spec: Partial<BackupSpec> = {}, name = "nightly"): Promise<void> {
    await this.world.client.create(foundationDbBackups, backupOf(spec, name));
  }

  find(name = "nightly"): Promise<Stored<FoundationDBBackup> | undefined> {
    return this.world.client.find(foundationDbBackups, { namespace, name });
  }

  async status(name = "nightly"): Promise<BackupStatus> {
    return (await this.find(name))?.status ?? {};
  }

  async reasons(name = "nightly"): Promise<string[]> {
    return ((await this.status(name)).blockedBy ?? []).map(({ reason }) => reason);
  }

  change(spec: object, name = "nightly"): Promise<unknown> {
    const key = { namespace, name };
    return this.world.client.patch(foundationDbBackups, key, { spec }, { type: "merge" });
  }

  annotate(annotations: Readonly<Record<string, string>>): Promise<unknown> {
    const body = { metadata: { annotations } };
    return this.world.client.patch(foundationDbBackups, nightly, body, { type: "merge" });
  }

  async until(
    holds: (status: BackupStatus) => boolean,
    what: string,
    limitMs = 5 * minuteMs,
    name = "nightly",
  ): Promise<void> {
    try {
      await this.world.until(async () => holds(await this.status(name)), what, limitMs);
    } catch (error) {
      const { managedFields: _, ...found } = (await this.find(name))?.metadata ?? {};
      const status = JSON.stringify(await this.status(name), undefined, 1);
      const commands = (await this.commandPods()).map(({ metadata, status: of }) =>
        JSON.stringify([metadata.name, of?.phase, of?.containerStatuses?.[0]?.state]),
      );
      const lines = [what, JSON.stringify(found), status, ...commands];
      throw new Error(lines.join("\n"), { cause: error });
    }
  }

  untilRestorable(name = "nightly"): Promise<void> {
    return this.until(
      ({ backupDetails, generations }) =>
        backupDetails?.restorable === true && generations?.reconciled !== undefined,
      "the backup is restorable",
      5 * minuteMs,
      name,
    );
  }

  async untilGone(name = "nightly", limitMs = 10 * minuteMs): Promise<void> {
    const what = `the backup ${name} is gone`;
    await this.world.until(async () => (await this.find(name)) === undefined, what, limitMs);
  }

  async commandPods(): Promise<Stored<Pod>[]> {
    const labelSelector = "foundationdb.org/backup-command-for";
    return (await this.world.client.list(pods, { namespace, labelSelector })).items;
  }

  /** Every command that was ever begun, in order, also by pods that are gone. */
  begun(from = 0): string[] {
    return this.world.requests
      .slice(from)
      .filter(
        ({ verb, resource, status }) =>
          verb === "create" && resource.plural === "pods" && status < 300,
      )
      .map(({ name = "" }) => /^.*-([a-z]+)-[0-9a-f]{10}-\d+$/.exec(name)?.[1] ?? "")
      .filter((command) => command !== "");
  }

  async agents(name = "nightly"): Promise<Stored<Pod>[]> {
    const labelSelector = `foundationdb.org/deployment-name=${name}-backup-agents`;
    return (await this.world.client.list(pods, { namespace, labelSelector })).items;
  }

  objects(prefix = ""): number {
    return this.store.list("backups", prefix).length;
  }

  async advance(ms: number): Promise<void> {
    await this.world.clock.advance(ms);
  }
}
