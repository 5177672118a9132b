// Restores that the operator looks after, in a whole world: a source with a backup, an empty destination, and what both hold.
import { apiVersion } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import type { FoundationDBRestore, RestoreSpec, RestoreStatus } from "../../src/api/restore.ts";
import type { AdminClient } from "../../src/fdb/admin.ts";
import { deployments } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { BackupWorld } from "./managed-backup.ts";
import { minuteMs, tiny } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

const namespace = "default";

export function restoreOf(
  spec: Partial<RestoreSpec> = {},
  name = "back",
): Stored<FoundationDBRestore> {
  return {
    apiVersion,
    kind: "FoundationDBRestore",
    metadata: { name, namespace },
    spec: { destinationClusterName: "copy", fromBackup: "nightly", ...spec },
  };
}

export class RestoreWorld extends BackupWorld {
  /** The source has a restorable backup and some keys; the destination is there and empty. */
  static runRestores(
    options: TestWorldOptions,
    body: (scene: RestoreWorld) => Promise<void>,
  ): Promise<void> {
    return BackupWorld.run(options, async ({ world, store }) => {
      const scene = new RestoreWorld(world, store);
      await world.createCluster(tiny, { name: "copy" });
      await scene.write("sample", { a: "1", b: "2", "p/1": "x" });
      await scene.create();
      await world.untilReconciled(10 * minuteMs, { name: "copy" });
      await scene.untilRestorable();
      await scene.write("sample", { b: "3", c: "4" });
      await scene.advance(minuteMs);
      await body(scene);
    });
  }

  async createRestore(spec: Partial<RestoreSpec> = {}, name = "back"): Promise<void> {
    await this.world.client.create(foundationDbRestores, restoreOf(spec, name));
  }

  async deleteRestore(name = "back"): Promise<void> {
    await this.world.client.delete(foundationDbRestores, { namespace, name });
  }

  restore(name = "back"): Promise<Stored<FoundationDBRestore> | undefined> {
    return this.world.client.find(foundationDbRestores, { namespace, name });
  }

  async restoreStatus(name = "back"): Promise<RestoreStatus> {
    return (await this.restore(name))?.status ?? {};
  }

  async restoreReasons(name = "back"): Promise<string[]> {
    return ((await this.restoreStatus(name)).blockedBy ?? []).map(({ reason }) => reason);
  }

  async untilRestore(
    holds: (status: RestoreStatus) => boolean,
    what: string,
    limitMs = 10 * minuteMs,
    name = "back",
  ): Promise<void> {
    try {
      await this.world.until(async () => holds(await this.restoreStatus(name)), what, limitMs);
    } catch (error) {
      const status = JSON.stringify(await this.restoreStatus(name), undefined, 1);
      const commands = (await this.commandPods()).map(({ metadata, status: of }) =>
        JSON.stringify([metadata.name, of?.phase, of?.containerStatuses?.[0]?.state]),
      );
      throw new Error([what, status, ...commands].join("\n"), { cause: error });
    }
  }

  untilCompleted(name = "back"): Promise<void> {
    return this.untilRestore(
      ({ endTime }) => endTime !== undefined,
      "the end",
      10 * minuteMs,
      name,
    );
  }

  untilReason(reason: string, name = "back"): Promise<void> {
    const holds = ({ blockedBy = [] }: RestoreStatus): boolean =>
      blockedBy.some((wait) => wait.reason === reason);
    return this.untilRestore(holds, reason, 10 * minuteMs, name);
  }

  async messageOf(reason: string, name = "back"): Promise<string> {
    const { blockedBy = [] } = await this.restoreStatus(name);
    return blockedBy.find((wait) => wait.reason === reason)?.message ?? "";
  }

  async untilRestoreGone(name = "back"): Promise<void> {
    const what = `the restore ${name} is gone`;
    await this.world.until(
      async () => (await this.restore(name)) === undefined,
      what,
      10 * minuteMs,
    );
  }

  async write(cluster: string, entries: Readonly<Record<string, string>>): Promise<void> {
    await this.#transact(cluster, (admin) =>
      admin.transact(
        async (transaction) => {
          for (const [key, value] of Object.entries(entries)) {
            transaction.set(Buffer.from(key), Buffer.from(value));
          }
        },
        { timeoutMs: minuteMs },
      ),
    );
  }

  async clear(cluster: string): Promise<void> {
    await this.#transact(cluster, (admin) =>
      admin.transact(
        async (transaction) => transaction.clearRange(Buffer.from(""), Buffer.from([0xff])),
        { timeoutMs: minuteMs },
      ),
    );
  }

  async #transact(cluster: string, act: (admin: AdminClient) => Promise<void>): Promise<void> {
    const connectionString = await this.#connection(cluster);
    const { fdb } = this.world.world;
    const admin = fdb.admin.open({ name: "test", connectionString, version: "7.3.63" });
    await this.world.during(act(admin), minuteMs, "a transaction");
    admin.close();
  }

  async #connection(name: string): Promise<string> {
    return (await this.world.cluster({ name })).status?.connectionString ?? "";
  }

  /** The keys of users at a version, the newest without one; from the ground truth of the simulation. */
  async content(cluster: string, version = Number.MAX_SAFE_INTEGER): Promise<string[]> {
    const record = this.world.world.fdb.record(await this.#connection(cluster));
    return [...(record?.contentAt(version) ?? [])]
      .filter(([key]) => key < "\xff")
      .map(([key, value]) => `${key}=${Buffer.from(value).toString()}`);
  }

  async lockOf(cluster: string): Promise<string | undefined> {
    const connectionString = await this.#connection(cluster);
    const { fdb } = this.world.world;
    const admin = fdb.admin.open({ name: "test", connectionString, version: "7.3.63" });
    const status = await this.world.during(admin.status(minuteMs), minuteMs, "a status");
    admin.close();
    return status.cluster?.database_lock_state?.lock_uid;
  }

  async ownAgents(name = "back"): Promise<number> {
    const key = { namespace, name: `${name}-restore-agents` };
    return (await this.world.client.find(deployments, key))?.spec?.replicas ?? 0;
  }
}
