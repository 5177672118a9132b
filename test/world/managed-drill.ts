// Drills of backups in a whole world: a source with keys and a backup that is to be verified, and what a drill leaves behind.
import type { Verification } from "../../src/api/backup-verification.ts";
import type { BackupSpec, BackupStatus } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { deployments, persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { RestoreWorld } from "./managed-restore.ts";
import { BackupWorld } from "./managed-backup.ts";
import { frugalProcesses, hourMs, tiny } from "./world-harness.ts";
import type { TestWorldOptions } from "./world-harness.ts";

/** At the full hour, into the smallest cluster. */
export function hourly(change: Partial<Verification> = {}): Verification {
  return {
    schedule: { cron: "0 * * * *" },
    template: { spec: { ...tiny, processes: frugalProcesses } },
    ...change,
  };
}

/** A pod that ends so. */
export function checkOf(
  line: string,
  activeDeadlineSeconds?: number,
): NonNullable<Verification["check"]> {
  const resources = { requests: { cpu: "10m", memory: "16Mi" } };
  return {
    spec: {
      ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
      containers: [
        { name: "check", image: "busybox:1.36", command: ["sh", "-c", line], resources },
      ],
    },
  };
}

export class DrillWorld extends RestoreWorld {
  /** The source has a restorable backup and some keys; the first drill is up to an hour away. */
  static runDrills(
    options: TestWorldOptions & { backup?: Partial<BackupSpec> },
    body: (scene: DrillWorld) => Promise<void>,
  ): Promise<void> {
    const { backup = {}, ...rest } = options;
    return BackupWorld.run(rest, async ({ world, store }) => {
      const scene = new DrillWorld(world, store);
      await scene.write("sample", { a: "1", b: "2", c: "3" });
      await scene.create({ verification: hourly(), ...backup });
      await scene.untilRestorable();
      await body(scene);
    });
  }

  /** Until the first or another verdict. */
  async untilVerdict(limitMs = 2 * hourMs): Promise<NonNullable<BackupStatus["lastVerification"]>> {
    const before = (await this.status()).lastVerification?.time;
    await this.until(
      ({ lastVerification }) => lastVerification !== undefined && lastVerification.time !== before,
      "a verdict",
      limitMs,
    );
    return (await this.status()).lastVerification ?? { time: "", result: "Failed" };
  }

  untilDrill(phase: NonNullable<BackupStatus["drill"]>["phase"]): Promise<void> {
    return this.until(({ drill }) => drill?.phase === phase, `a drill in ${phase}`, 2 * hourMs);
  }

  untilRemoved(): Promise<void> {
    return this.until(({ drill }) => drill === undefined, "nothing left of the drill", hourMs);
  }

  async condition(type: string): Promise<string> {
    const found = conditionIn(await this.status(), type);
    return `${found?.status} ${found?.reason}`;
  }

  /** All that a drill makes, by its own name or by what is made for it. */
  async leftovers(): Promise<string[]> {
    const found: string[] = [];
    for (const resource of [
      foundationDbClusters,
      foundationDbRestores,
      deployments,
      pods,
      persistentVolumeClaims,
    ] as Resource<KubeObject>[]) {
      const { items } = await this.world.client.list(resource, { namespace: "default" });
      for (const { metadata } of items) {
        if (metadata.name?.startsWith("drill-")) found.push(`${resource.plural}/${metadata.name}`);
      }
    }
    return found;
  }
}
