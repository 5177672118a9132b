// Clusters of day two behind pictures of the dashboard: one that sleeps, one whose update waits for its maintenance window, one
// whose node is drained, one with a volume in quarantine, and one whose backup cannot write while all else is well.
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { foundationDbBackups } from "../../src/api/backup.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { nodes, pods, storageClasses } from "../../src/kube/resource.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import type { LiveSource } from "../../src/web/server/live-source.ts";
import { createStore } from "../world/backup-harness.ts";
import { localClass, localProcesses } from "../world/drain-harness.ts";
import { backupOf } from "../world/managed-backup.ts";
import { frugalProcesses, minuteMs, TestWorld } from "../world/world-harness.ts";
import { liveSource } from "./live-harness.ts";

/** The name of each cluster is its state. */
export const dayTwoNames = ["asleep", "window", "drain", "quarantine", "backup"] as const;
type DayTwoName = (typeof dayTwoNames)[number];

/** Windows open at two in the night. */
const startMs = Date.parse("2026-11-17T08:45:00Z");

const options: Readonly<Record<DayTwoName, ClusterSpec["automationOptions"]>> = {
  asleep: {},
  window: { maintenanceWindows: [{ cron: "0 2 * * *", duration: "3h", timeZone: "UTC" }] },
  drain: { drains: { enabled: true } },
  quarantine: { volumeQuarantine: "24h" },
  backup: {},
};

export async function dayTwoWorld(): Promise<{ world: TestWorld; source: LiveSource }> {
  const clock = new VirtualClock(startMs);
  const world = await TestWorld.open({ clock, nodes: 12 });
  await createStore(world);
  await world.client.create(storageClasses, localClass);
  for (const name of dayTwoNames) await world.createCluster(specOf(name), { name });
  const source = liveSource(world, { exec: world.world.server.pods("dashboard"), speed: 0 });
  for (const name of dayTwoNames) source.look({ namespace: "default", name }, () => {});
  for (const name of dayTwoNames) await world.untilReconciled(20 * minuteMs, { name });
  await clock.advance(12 * minuteMs);
  await world.changeSpec(counts(3), { name: "quarantine" });
  await world.untilReconciled(30 * minuteMs, { name: "quarantine" });
  const store = { accountName: "KEY@elsewhere.example.com", bucket: "backups" };
  await world.client.create(
    foundationDbBackups,
    backupOf({ clusterName: "backup", blobStoreConfiguration: store }, "off-site"),
  );
  await world.changeSpec({ hibernate: true }, { name: "asleep" });
  await world.until(
    async () =>
      conditionIn((await world.cluster({ name: "asleep" })).status, "Hibernated")?.status ===
      "True",
    "the database sleeps",
    20 * minuteMs,
    { name: "asleep" },
  );
  const customParameters = ["knob_max_trace_lines=1000"];
  await world.changeSpec({ processes: { log: { customParameters } } }, { name: "window" });
  await clock.advance(12 * minuteMs);
  await drainNode(world);
  return { world, source };
}

function specOf(name: DayTwoName): Partial<ClusterSpec> {
  return {
    databaseConfiguration: { redundancy_mode: "double", storage_engine: "ssd-2" },
    ...counts(4),
    processes: name === "drain" ? localProcesses : frugalProcesses,
    automationOptions: { ...options[name], waitBetweenRemovalsSeconds: 0 },
  };
}

const counts = (storage: number): Pick<ClusterSpec, "processCounts"> => ({
  processCounts: { storage, log: 3, stateless: 3 },
});

/** Somebody begins to drain a node of "drain", whose volumes are disks of the nodes: its process groups move to others. */
async function drainNode({ client, clock }: TestWorld): Promise<void> {
  const labelSelector =
    "foundationdb.org/fdb-cluster-name=drain,foundationdb.org/fdb-process-class=storage";
  const { items } = await client.list(pods, { labelSelector });
  const name = items[0]?.spec?.nodeName ?? "";
  const wish = {
    metadata: { annotations: { "foundationdb.org/drain": "true" } },
    spec: { unschedulable: true },
  };
  await client.patch(nodes, { name }, wish, { type: "merge" });
  await clock.advance(15_000);
}
