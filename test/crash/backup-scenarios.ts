// Changes of backups, a restore and a drill at whose every write the operator is crashed. Each ends when nothing of its commands is left, so that two
// runs can be compared. Rules: spec/crash.md [CR7]-[CR9].
import { foundationDbBackups } from "../../src/api/backup.ts";
import type { BackupSpec } from "../../src/api/backup.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { createStore } from "../world/backup-harness.ts";
import { backupOf, BackupWorld, nightly } from "../world/managed-backup.ts";
import { hourly } from "../world/managed-drill.ts";
import { restoreOf, RestoreWorld } from "../world/managed-restore.ts";
import { minuteMs } from "../world/world-harness.ts";
import type { TestWorld } from "../world/world-harness.ts";
import type { Scenario } from "./scenarios.ts";

const withStore = async (world: TestWorld): Promise<void> => void (await createStore(world));

const create = (world: TestWorld, spec: Partial<BackupSpec>): Promise<unknown> =>
  world.client.create(foundationDbBackups, backupOf(spec));

export function backupScenarios(spec: Partial<ClusterSpec>): Scenario[] {
  const scenario = { spec, startsWithCluster: true, restarts: 0, prepare: withStore };
  return [
    {
      ...scenario,
      name: "backup",
      change: (world) => create(world, { deletionPolicy: "stop" }),
      endsAfterMs: 14 * minuteMs,
    },
    {
      ...scenario,
      name: "backup-schedule",
      change: (world) =>
        create(world, { backupMode: "oneTime", schedule: { cron: "*/20 * * * *", keepLast: 1 } }),
      endsAfterMs: 54 * minuteMs,
    },
    {
      ...scenario,
      name: "backup-cleanup",
      prepare: async (world) => {
        const scene = new BackupWorld(world, await createStore(world));
        await scene.create({ deletionPolicy: "cleanup" });
        await scene.untilRestorable();
        await scene.annotate({ "foundationdb.org/delete-last-backup": "nightly" });
        await scene.advance(12 * minuteMs);
      },
      change: (world) => world.client.delete(foundationDbBackups, nightly),
      endsAfterMs: 5 * minuteMs,
    },
    {
      ...scenario,
      name: "restore",
      prepare: async (world) => {
        const scene = new RestoreWorld(world, await createStore(world));
        await scene.write("sample", { "k/1": "one", "k/2": "two" });
        await scene.create({ backupMode: "oneTime", agentCount: 1 });
        await scene.untilRestorable();
        await scene.advance(12 * minuteMs);
      },
      // Beside the data of the source, with agents of its own, so that these are among the writes.
      change: (world) =>
        world.client.create(
          foundationDbRestores,
          restoreOf({
            destinationClusterName: "sample",
            keyRanges: [{ start: "k/", end: "k0" }],
            addPrefix: "old/",
            agents: { count: 1 },
          }),
        ),
      endsAfterMs: 16 * minuteMs,
    },
    {
      ...scenario,
      name: "drill",
      creations: 2,
      prepare: async (world) => {
        const scene = new RestoreWorld(world, await createStore(world));
        await scene.write("sample", { "k/1": "one", "k/2": "two" });
        await scene.create({ agentCount: 1 });
        await scene.untilRestorable();
        await scene.advance(12 * minuteMs);
      },
      change: (world) => {
        // An operator that dies before it has noted the line is back by then: a new line makes up for nothing.
        const minute = new Date(world.clock.nowMs() + 6 * minuteMs).getUTCMinutes();
        const verification = hourly({ schedule: { cron: `${minute} * * * *` } });
        const body = { spec: { verification } };
        return world.client.patch(foundationDbBackups, nightly, body, { type: "merge" });
      },
      endsAfterMs: 34 * minuteMs,
    },
  ];
}
