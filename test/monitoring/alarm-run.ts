// A world in which things break, watched by a real Prometheus whose rules have shorter durations by the factor by which time
// runs faster: the alarms of what was broken fire, and no others. Rules: spec/monitoring.md [MON13].
import { strict as assert } from "node:assert";
import { setTimeout as sleep } from "node:timers/promises";
import { dashboards } from "../../scripts/monitoring/monitoring-files.ts";
import { registerProcessMetrics } from "../../src/cli/process-metrics.ts";
import { registerRequestMetrics } from "../../src/cli/request-metrics.ts";
import { serveProbes } from "../../src/cli/probe-server.ts";
import { MetricsRegistry } from "../../src/env/metrics.ts";
import type { AdminClient, AdminClientFactory } from "../../src/fdb/admin.ts";
import { conditionIn } from "../../src/kube/condition.ts";
import { configMaps } from "../../src/kube/resource.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { knobs } from "../world/restart-harness.ts";
import { minuteMs, small, TestWorld } from "../world/world-harness.ts";
import { watchBy } from "./watching-prometheus.ts";
import type { FiredAlarm, WatchingPrometheus } from "./watching-prometheus.ts";

/** A minute of the world is a second of the machine. */
const factor = 60;
const version = "7.3.63";
const newer = "7.3.69";

interface Trouble {
  readonly cluster: string;
  readonly expected: readonly string[];
  readonly begin: (scene: Scene) => Promise<void> | void;
  /** Once in about a minute of the world. */
  readonly each?: (scene: Scene, turn: number) => Promise<void> | void;
}

interface Scene {
  readonly world: TestWorld;
  /** Statuses of a cluster are changed so before the operator sees them. */
  readonly changed: Map<string, (status: DatabaseStatus) => DatabaseStatus>;
  readonly address: (cluster: string, processClass: string, index: number) => Promise<string>;
}

const troubles: readonly Trouble[] = [
  {
    cluster: "dark",
    expected: ["FoundationDBCoordinatorLost", "FoundationDBUnavailable"],
    begin: async ({ world }) => {
      for (const pod of await world.pods()) {
        const { name = "" } = pod.metadata;
        if (!/^dark-(log|storage)-/.test(name)) continue;
        world.world.fdb.faults.cutAddress(pod.status?.podIP ?? "");
      }
    },
  },
  {
    cluster: "thin",
    expected: ["FoundationDBDataAtRisk", "FoundationDBFaultToleranceLow"],
    begin: ({ changed }) => {
      changed.set("default/thin", thinned);
    },
  },
  {
    cluster: "crashing",
    expected: ["FoundationDBProcessCrashLoop"],
    begin: () => {},
    each: async ({ world, address }, turn) => {
      if (turn % 4 !== 0 || turn > 32) return;
      world.world.fdb.faults.crashProcess(await address("crashing", "storage", 0));
    },
  },
  {
    cluster: "lagging",
    expected: ["FoundationDBDiskFilling", "FoundationDBQueueNearLimit", "FoundationDBStorageLag"],
    begin: ({ world, changed }) => {
      const startedMs = world.clock.nowMs();
      changed.set("default/lagging", (status) => {
        const minutes = (world.clock.nowMs() - startedMs) / minuteMs;
        return slowed(status, 60e9 - minutes * 1e8);
      });
    },
  },
  {
    cluster: "refusing",
    expected: ["FoundationDBNeedsPerson"],
    begin: async ({ world }) => {
      await world.changeSpec(knobs("knob_cache_eviction_policy=fifo"), { name: "refusing" });
    },
  },
  {
    cluster: "clinging",
    expected: ["FoundationDBNeedsPerson", "FoundationDBUpgradeStuck"],
    begin: async ({ world }) => {
      const { status } = await world.cluster({ name: "clinging" });
      world.world.fdb.addClient(status?.connectionString ?? "", {
        ...{ address: "10.9.9.9:5000", logGroup: "shop" },
        versions: [version],
      });
      await world.changeSpec({ version: "7.4.5" }, { name: "clinging" });
    },
  },
];

const promise = "[MON13] the alarms of what is broken fire, and no others";

export async function runAlarms(binary: string, say: (line: string) => void): Promise<void> {
  say(promise);
  const changed: Scene["changed"] = new Map();
  const world = await TestWorld.open({
    nodes: 12,
    zones: 3,
    wrapAdmin: (admin) => changingStatuses(admin, changed),
    operator: { databaseMetrics: { detail: "process" } },
  });
  const names = ["healthy", ...troubles.map(({ cluster }) => cluster)];
  for (const name of names) await world.createCluster({ ...small, version }, { name });
  for (const name of names) await world.untilReconciled(10 * minuteMs, { name });
  say(`${names.length} clusters are up`);
  let isLeading = true;
  const registry = new MetricsRegistry();
  registerRequestMetrics(registry);
  const stopMetrics = registerProcessMetrics(registry, {
    ...{ startedMs: world.clock.nowMs(), version: "test", features: {} },
    isLeading: () => isLeading,
  });
  const probes = await serveProbes({ host: "127.0.0.1", port: 0 }, "metrics-addr", {
    ...{ notAlive: () => [], notReady: () => [], remarks: () => [] },
    metricsText: () => registry.text() + world.world.operator.metricsText(),
  });
  const prometheus = await watchBy(binary, probes.address.port, factor).catch(async (error) => {
    await probes.close();
    throw error;
  });
  const pace = startPace(world);
  try {
    const scene: Scene = { world, changed, address: (...whose) => addressOf(world, ...whose) };
    // A peaceful quarter of an hour first.
    await sleep(15_000);
    await assertFired(prometheus, []);
    say("nothing fires while all is well");
    await Promise.all([
      ...troubles.map((trouble) => begin(scene, trouble)),
      live(world, say),
      // What lasts an hour in the world takes a minute here.
      sleep(75_000),
    ]);
    const expected = troubles.flatMap(({ cluster, expected: list }) =>
      list.map((alarm) => ({ alarm, whose: `default/${cluster}` })),
    );
    for (const { alarm, whose } of expected) await untilFired(prometheus, alarm, whose);
    await assertFired(prometheus, expected);
    say(`${expected.length} alarms of ${troubles.length} troubles fired, and no others`);
    await assertPanels(prometheus);
    isLeading = false;
    await untilFired(prometheus, "FoundationDBOperatorNotLeading", "");
    say("an operator that does not lead is told");
  } finally {
    await pace.stop();
    stopMetrics();
    await prometheus.close();
    await probes.close();
    await world.close();
  }
}

/** Lets the world follow the time of the machine, so many times as fast; a busy machine makes steps longer, not times. */
function startPace(world: TestWorld): { stop(): Promise<void> } {
  const startedAt = performance.now();
  const startedMs = world.clock.nowMs();
  const ending = new AbortController();
  // By the time of the world: on a busy machine its steps are long.
  const stirAgain = (turn: number): void => {
    if (ending.signal.aborted) return;
    void stir(world, turn);
    world.clock.setTimer(30_000, () => stirAgain(turn + 1));
  };
  stirAgain(0);
  const running = (async () => {
    while (!ending.signal.aborted) {
      const dueMs = startedMs + Math.floor((performance.now() - startedAt) * factor);
      if (dueMs > world.clock.nowMs()) await world.clock.advance(dueMs - world.clock.nowMs());
      await sleep(50);
    }
  })();
  return {
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}

/** In every real cluster something is written all the time, so that watches always have news to tell. */
async function stir({ client }: TestWorld, turn: number): Promise<void> {
  const object = {
    ...{ apiVersion: "v1", kind: "ConfigMap" },
    metadata: { name: "stir", namespace: "default" },
    data: { turn: String(turn) },
  };
  if (turn === 0) await client.create(configMaps, object);
  else await client.patch(configMaps, object.metadata, { data: object.data }, { type: "merge" });
}

async function begin(scene: Scene, { begin: start, each }: Trouble): Promise<void> {
  await start(scene);
  if (each === undefined) return;
  for (let turn = 0; turn < 60; turn += 1) {
    await each(scene, turn);
    await sleep(1_000);
  }
}

/** What an ordinary day brings: a knob, a growth, an upgrade. */
async function live(world: TestWorld, say: (line: string) => void): Promise<void> {
  const name = { name: "healthy" };
  const steps: readonly [string, object][] = [
    ["a knob", knobs("knob_min_trace_severity=20")],
    ["a growth", { processCounts: { storage: 5, log: 3, stateless: 3 } }],
    ["an upgrade", { version: newer }],
  ];
  for (const [title, change] of steps) {
    await world.changeSpec(change, name);
    const deadline = performance.now() + 240_000;
    await sleep(1_000);
    for (;;) {
      const { metadata, status } = await world.cluster(name);
      const isReconciled = conditionIn(status, "Reconciled")?.status === "True";
      if (isReconciled && status?.generations?.reconciled === metadata.generation) break;
      if (performance.now() > deadline) throw new Error(`${title} did not end`);
      await sleep(500);
    }
    say(`${title} went through`);
  }
}

async function assertFired(
  prometheus: WatchingPrometheus,
  expected: readonly FiredAlarm[],
): Promise<void> {
  const texts = (list: readonly FiredAlarm[]): string[] => [
    ...new Set(list.map(({ alarm, whose }) => `${alarm} ${whose}`)),
  ];
  assert.deepEqual(texts(await prometheus.everFired()).toSorted(), texts(expected).toSorted());
}

async function assertPanels(prometheus: WatchingPrometheus): Promise<void> {
  for (const { uid, rows } of dashboards) {
    for (const { expression } of rows.flatMap(({ panels }) => panels.flatMap((p) => p.queries))) {
      const asked = expression
        .replaceAll("$namespace", "default")
        .replaceAll("$cluster", "healthy")
        .replaceAll("$__rate_interval", "1m");
      assert.equal(await prometheus.problemOf(asked), undefined, `${uid}: ${expression}`);
    }
  }
}

async function untilFired(
  prometheus: WatchingPrometheus,
  alarm: string,
  whose: string,
): Promise<void> {
  const deadline = performance.now() + 180_000;
  const isIt = (each: FiredAlarm): boolean => each.alarm === alarm && each.whose === whose;
  while (!(await prometheus.everFired()).some(isIt)) {
    if (performance.now() > deadline) throw new Error(`${alarm} of ${whose} does not fire`);
    await sleep(500);
  }
}

async function addressOf(
  world: TestWorld,
  cluster: string,
  processClass: string,
  index: number,
): Promise<string> {
  const own = (await world.pods(processClass)).filter(({ metadata }) =>
    metadata.name?.startsWith(`${cluster}-`),
  );
  return `${own[index]?.status?.podIP ?? ""}:4501`;
}

/** One copy of some data is left. */
function thinned(status: DatabaseStatus): DatabaseStatus {
  const { cluster = {} } = status;
  const state = { name: "healing", healthy: false, min_replicas_remaining: 1 };
  return {
    ...status,
    cluster: {
      ...cluster,
      data: { ...cluster.data, state },
      fault_tolerance: {
        max_zone_failures_without_losing_availability: 0,
        max_zone_failures_without_losing_data: 0,
      },
    },
  };
}

function slowed(status: DatabaseStatus, freeBytes: number): DatabaseStatus {
  const { cluster = {} } = status;
  return {
    ...status,
    cluster: {
      ...cluster,
      data: { ...cluster.data, least_operating_space_bytes_storage_server: freeBytes },
      qos: {
        ...cluster.qos,
        worst_data_lag_storage_server: { seconds: 120, versions: 120_000_000 },
        worst_queue_bytes_storage_server: 900_000_000,
      },
    },
  };
}

function changingStatuses(
  admin: AdminClientFactory,
  changed: Scene["changed"],
): AdminClientFactory {
  return {
    isVersionSupported: (each) => admin.isVersionSupported(each),
    installedVersions: () => admin.installedVersions(),
    open: (options) => {
      const client = admin.open(options);
      const status: AdminClient["status"] = async (timeoutMs) => {
        const told = await client.status(timeoutMs);
        return changed.get(options.name)?.(told) ?? told;
      };
      return Object.assign(Object.create(client) as AdminClient, { status });
    },
  };
}
