// One cluster of a given size in virtual time: what it costs to bring it up, what a look costs when
// nothing is to do, and what a new operator costs that finds it.
import { foundationDbClusters } from "../src/api/cluster.ts";
import { VirtualClock } from "../src/env/virtual-clock.ts";
import { isReconciled, startWorld } from "../src/sim/world.ts";
import type { World } from "../src/sim/world.ts";
import { inVirtualTime } from "./in-virtual-time.ts";
import { withOperatorShare } from "./operator-share.ts";
import { clusterKey, nodesFor, sampleCluster } from "./sample-cluster.ts";

export interface RequestCounts {
  /** Without watches. */
  requests: number;
  writes: number;
  statusWrites: number;
}

export interface Creation extends RequestCounts {
  virtualSeconds: number;
  /** Of the whole world: API server, scheduler, kubelets, database and operator. */
  cpuMs: number;
  operatorCpuMs: number;
  passes: number;
}

export interface NoOp extends RequestCounts {
  cpuMs: number;
  runs: number;
}

/** A new operator that remembers nothing, until it finds the cluster as it should be. */
export interface Restart extends RequestCounts {
  virtualSeconds: number;
  cpuMs: number;
}

export interface ClusterRun {
  groups: number;
  creation: Creation;
  noOp: NoOp;
  restart: Restart;
}

export interface RunOptions {
  groups: number;
  seed: number;
  /** Looks that are measured, after some that are not. */
  noOpRuns: number;
  progress: (text: string) => void;
}

const virtualLimitMs = 15 * 60_000;
/** After this time without news a cluster is at rest: held-back status writes are done. */
const restMs = 60_000;
const warmUpRuns = 5;
/** Real time between two lines of progress. */
const progressMs = 2_000;

interface Bench {
  world: World;
  clock: VirtualClock;
  counts: RequestCounts;
  /** Whether the newest look found the cluster reconciled. */
  isDone: boolean;
}

export async function runCluster(options: RunOptions): Promise<ClusterRun> {
  const bench = await openBench(options);
  try {
    const creation = await measureCreation(bench, options);
    options.progress(`${options.groups} process groups: looks without work`);
    const noOp = await measureNoOp(bench, options.noOpRuns);
    const restart = await measureRestart(bench);
    return { groups: options.groups, creation, noOp, restart };
  } finally {
    await bench.world.stop();
  }
}

async function openBench({ groups, seed }: RunOptions): Promise<Bench> {
  const clock = new VirtualClock();
  const counts: RequestCounts = { requests: 0, writes: 0, statusWrites: 0 };
  const bench = { clock, counts, isDone: false };
  const world = startWorld({
    clock,
    seed,
    nodes: nodesFor(groups),
    zones: 3,
    onRequest({ verb, resource, subresource }) {
      if (verb === "watch") return;
      counts.requests += 1;
      if (verb === "get" || verb === "list") return;
      counts.writes += 1;
      const isCluster = resource.plural === foundationDbClusters.plural;
      if (isCluster && subresource === "status") counts.statusWrites += 1;
    },
    onActivity(activity) {
      if (activity.type === "status") bench.isDone = activity.isReconciled;
    },
  });
  await inVirtualTime(clock, world.started);
  await clock.advance(5_000);
  return Object.assign(bench, { world });
}

async function measureCreation(bench: Bench, options: RunOptions): Promise<Creation> {
  const { world, clock, counts } = bench;
  const { groups, progress } = options;
  reset(counts);
  await world.client.create(foundationDbClusters, sampleCluster(groups));
  const startedMs = clock.nowMs();
  const before = process.cpuUsage();
  const measured = await withOperatorShare(async () => {
    let toldAt = performance.now();
    await clock.run({
      untilMs: startedMs + virtualLimitMs,
      until() {
        if (performance.now() - toldAt > progressMs) {
          toldAt = performance.now();
          const second = Math.floor((clock.nowMs() - startedMs) / 1000);
          progress(`${groups} process groups: virtual second ${second}`);
        }
        return bench.isDone;
      },
    });
    return cpuMsSince(before);
  });
  const virtualSeconds = (clock.nowMs() - startedMs) / 1000;
  const { passes } = world.operator.counters();
  await clock.advance(restMs);
  const cluster = await world.client.get(foundationDbClusters, clusterKey);
  if (!isReconciled(cluster)) {
    const waits = JSON.stringify(cluster.status?.blockedBy ?? []);
    throw new Error(`${groups} process groups: not reconciled; it waits for ${waits}`);
  }
  const cpuMs = measured.result;
  return { ...counts, virtualSeconds, cpuMs, operatorCpuMs: cpuMs * measured.share, passes };
}

/** A touched annotation makes the operator look; that one step of the clock is measured. */
async function measureNoOp(bench: Bench, runs: number): Promise<NoOp> {
  const { world, clock, counts } = bench;
  const times: number[] = [];
  for (let run = 0; run < warmUpRuns + runs; run += 1) {
    if (run === warmUpRuns) reset(counts);
    const annotations = { "foundationdb.org/reconcile": String(run) };
    const patch = { metadata: { annotations } };
    await world.client.patch(foundationDbClusters, clusterKey, patch, { type: "merge" });
    const cpuMs = await untilNextPass(bench);
    if (run >= warmUpRuns) times.push(cpuMs);
    // The database is asked twice a minute; looks at its answers lie between the measured ones.
    await clock.advance(7_000);
  }
  return { ...counts, cpuMs: median(times), runs };
}

async function measureRestart(bench: Bench): Promise<Restart> {
  const { world, clock, counts } = bench;
  await inVirtualTime(clock, world.stopOperator());
  reset(counts);
  bench.isDone = false;
  const startedMs = clock.nowMs();
  const before = process.cpuUsage();
  world.startOperator();
  const { reason } = await clock.run({
    untilMs: startedMs + virtualLimitMs,
    until: () => bench.isDone,
  });
  if (reason !== "condition")
    throw new Error("a new operator does not find the cluster reconciled");
  const cpuMs = cpuMsSince(before);
  const virtualSeconds = (clock.nowMs() - startedMs) / 1000;
  await clock.advance(restMs);
  return { ...counts, virtualSeconds, cpuMs };
}

async function untilNextPass({ world, clock }: Bench): Promise<number> {
  const { passes } = world.operator.counters();
  while (true) {
    const before = process.cpuUsage();
    await clock.run({ maxEvents: 1 });
    const cpuMs = cpuMsSince(before);
    if (world.operator.counters().passes > passes) return cpuMs;
  }
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function reset(counts: RequestCounts): void {
  counts.requests = 0;
  counts.writes = 0;
  counts.statusWrites = 0;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
