// The clusters behind the pictures and the browser tests of the dashboard: those of a simulated world that was brought to the
// state in which they are shown, so that head, map, waits, time line and figures cannot contradict each other. Only the load
// of the applications is made up: nobody uses a simulated database.
import { foundationDbBackups } from "../../src/api/backup.ts";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { foundationDbRestores } from "../../src/api/restore.ts";
import { seededRandom } from "../../src/env/random.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import type { PodExec } from "../../src/kube/pod-exec.ts";
import { nodes, pods } from "../../src/kube/resource.ts";
import { formatTime } from "../../src/kube/time.ts";
import type { LiveOptions, LiveSource } from "../../src/web/server/live-source.ts";
import { createStore } from "../world/backup-harness.ts";
import { backupOf } from "../world/managed-backup.ts";
import { hourly } from "../world/managed-drill.ts";
import { RestoreWorld, restoreOf } from "../world/managed-restore.ts";
import { frugalProcesses, minuteMs, nameOf, TestWorld, tiny } from "../world/world-harness.ts";
import { liveSource } from "./live-harness.ts";

export interface SampleWorld {
  readonly world: TestWorld;
  /** Watches the world; somebody looks at "default/sample". */
  readonly source: LiveSource;
  /** Where there is one. */
  readonly lostNode: string | undefined;
}

const ledger = { name: "ledger", namespace: "payments" };
/** Sections of a status, and how many times as much is told of them as of a database at rest. */
const loads = { workload: 90, latency_probe: 1, qos: 1 } as const;
/** A quarter of an hour before a drill. */
const startMs = Date.parse("2026-11-17T08:45:00Z");
const upMs = 20 * minuteMs;

/** What there is to be backed up, restored and compared. */
const orders = Object.fromEntries(
  Array.from({ length: 500 }, (_, index) => [`order/${1_000 + index}`, "x".repeat(200)]),
);

/** As much as applications have written, so that figures and drills tell of the same data. */
const initialBytes = Object.entries(orders).reduce(
  (sum, [key, value]) => sum + key.length + value.length,
  0,
);

/** Volumes as large as the disks of which the simulated servers tell. */
const processes: ClusterSpec["processes"] = {
  general: {
    ...frugalProcesses["general"],
    volumeClaimTemplate: { metadata: {}, spec: { resources: { requests: { storage: "98G" } } } },
  },
};

/** The cluster "default/sample" of so many process groups in trouble, and two others. */
export async function sampleWorld(
  groups: number,
  moreClusters: number,
  preview: NonNullable<LiveOptions["preview"]>,
): Promise<SampleWorld> {
  const clock = new VirtualClock(startMs);
  const nodeCount = Math.max(12, Math.ceil(groups / 20));
  const world = await TestWorld.open({ clock, nodes: nodeCount, database: { initialBytes } });
  await world.createNamespace(ledger.namespace);
  const store = await createStore(world);
  await world.createCluster(tiny, { name: "orders" });
  await world.createCluster(tiny, ledger);
  await world.createCluster(specOf(groups));
  const source = liveSource(world, {
    exec: underLoad(world.world.server.pods("dashboard")),
    pauseMs: groups > 100 ? 20_000 : 5_000,
    ...{ speed: 0, preview },
  });
  source.look({ namespace: "default", name: "sample" }, () => {});
  for (const name of [{}, { name: "orders" }, ledger]) await world.untilReconciled(upMs, name);
  await new RestoreWorld(world, store).write("orders", orders);
  await backUp(world, groups);
  await clock.advance((groups > 100 ? 2 : 12) * minuteMs);
  const tooLarge = { requests: { cpu: "900", memory: "64Mi" } };
  const containers = [{ name: "foundationdb", resources: tooLarge }];
  await world.changeSpec(
    { processes: { storage: { podTemplate: { spec: { containers } } } } },
    ledger,
  );
  const lostNode = groups <= 3 ? undefined : await hurt(world, groups);
  if (groups <= 3) await stop(world);
  await copyClusters(world, moreClusters);
  return { world, source, lostNode };
}

/** Eight tenths storage as soon as there are enough. */
function specOf(groups: number): Partial<ClusterSpec> {
  if (groups <= 3) return { ...tiny, processes };
  const log = groups <= 16 ? 4 : Math.round(groups / 10);
  const stateless = groups <= 16 ? 9 : Math.round(groups / 10);
  return {
    databaseConfiguration: { redundancy_mode: "double", storage_engine: "ssd-2" },
    processCounts: { storage: groups - log - stateless, log, stateless },
    processes,
    // So that a preview of many process groups has minutes to compute, and not hours.
    ...(groups > 100 ? { automationOptions: { replacements: hasty } } : {}),
  };
}

const hasty = { faultDomainBasedReplacements: true, failureDetectionTimeSeconds: 600 };

/** A restore that is done, a backup with drills that runs, and one whose agents cannot write. */
async function backUp(world: TestWorld, groups: number): Promise<void> {
  if (groups <= 3) return;
  const { client, clock } = world;
  await client.create(foundationDbBackups, backupOf({ clusterName: "orders" }, "orders-nightly"));
  const pauseMs = (groups > 100 ? 1 : 3) * minuteMs;
  await clock.advance(pauseMs);
  await client.create(
    foundationDbRestores,
    restoreOf({ destinationClusterName: "sample", fromBackup: "orders-nightly" }, "from-orders"),
  );
  await clock.advance(pauseMs);
  await client.create(foundationDbBackups, backupOf({ verification: hourly() }, "continuous"));
  const store = { accountName: "KEY@elsewhere.example.com", bucket: "backups" };
  const elsewhere = { blobStoreConfiguration: store, tag: "off-site" };
  await client.create(foundationDbBackups, backupOf(elsewhere, "off-site"));
}

/** A node loses power; minutes later somebody sets a knob of the logs, and has fewer storage servers where there are many. */
async function hurt(world: TestWorld, groups: number): Promise<string> {
  const { clock } = world;
  const node = await nodeOfOneCluster(world);
  await world.during(world.world.kubelet.stopNode(node), minuteMs, "the end of a node");
  await clock.advance(4 * minuteMs);
  const { storage = 0, ...others } = specOf(groups).processCounts ?? {};
  const processCounts = { ...others, storage: storage - (groups > 100 ? 12 : 0) };
  const log = { customParameters: ["knob_max_trace_lines=1000"] };
  await world.changeSpec({ processes: { log }, processCounts });
  await clock.advance(minuteMs);
  return node;
}

/** A node on which only "sample" has pods, so that the others are as they were. */
async function nodeOfOneCluster({ client }: TestWorld): Promise<string> {
  const { items } = await client.list(pods);
  const onNode = Map.groupBy(items, ({ spec }) => spec?.nodeName ?? "");
  const clusterOf = ({ metadata }: (typeof items)[number]): string | undefined =>
    metadata.labels?.["foundationdb.org/fdb-cluster-name"];
  const [found] =
    [...onNode].find(([, held]) => {
      const owners = held.map(clusterOf).filter((owner) => owner !== undefined);
      return owners.length > 1 && owners.every((owner) => owner === "sample");
    }) ?? [];
  if (found === undefined) throw new Error("every node has pods of other clusters");
  return found;
}

/** The only log server loses its pod while no node takes another. */
async function stop(world: TestWorld): Promise<void> {
  const { items } = await world.client.list(nodes);
  for (const { metadata } of items) {
    const node = { name: metadata.name ?? "" };
    await world.client.patch(nodes, node, { spec: { unschedulable: true } }, { type: "merge" });
  }
  const name = (await world.pods("log")).map(nameOf).find((one) => one.startsWith("sample-")) ?? "";
  world.world.kubelet.evictPod("default", name, "The node was low on resource: memory.");
  await world.clock.advance(3 * minuteMs);
}

/** Others like "orders", as their resources stand; nobody looks after them. */
async function copyClusters(world: TestWorld, count: number): Promise<void> {
  if (count === 0) return;
  await world.during(world.world.stopOperator(), minuteMs, "the end of the operator");
  const { spec, status: found } = await world.cluster({ name: "orders" });
  // They are as old as their resources.
  const now = formatTime(world.clock.nowMs());
  const text = JSON.stringify(found).replaceAll(/("lastTransitionTime":)"[^"]*"/g, `$1"${now}"`);
  const status = JSON.parse(text) as object;
  for (let index = 0; index < count; index += 1) {
    const namespace = `team-${index % 7}`;
    if (index < 7) await world.createNamespace(namespace);
    const key = { namespace, name: `tenant-${index + 1}` };
    const { apiVersion, kind } = await world.cluster();
    await world.client.create(foundationDbClusters, { apiVersion, kind, metadata: key, spec });
    await world.client.patch(
      foundationDbClusters,
      key,
      { status },
      { type: "merge", subresource: "status" },
    );
  }
  await world.clock.advance(1_000);
}

/** What applications do, and what that does to the servers, varies from look to look. */
function underLoad(exec: PodExec): PodExec {
  const random = seededRandom(7);
  let looks = 0;
  const varied = (value: unknown, times: number): unknown => {
    const swell = 1 + Math.sin(looks / 40) / 4;
    if (typeof value === "number") return value * times * (swell + random.next() / 8);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).map(([name, inner]) => [name, varied(inner, times)]);
    return Object.fromEntries(entries) as unknown;
  };
  return {
    async run(asked) {
      const answer = await exec.run(asked);
      if (!answer.stdout.startsWith("{")) return answer;
      looks += 1;
      const status = JSON.parse(answer.stdout) as { cluster?: Record<string, unknown> };
      for (const [section, times] of Object.entries(loads)) {
        const found = status.cluster?.[section];
        if (found !== undefined)
          Object.assign(status.cluster ?? {}, { [section]: varied(found, times) });
      }
      const stdout = JSON.stringify(status);
      return { ...answer, stdout, stdoutBytes: Buffer.from(stdout) };
    },
  };
}
