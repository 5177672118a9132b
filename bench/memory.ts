// Resident memory and processor time of the bundled operator in real time: with no cluster, with a small one or with many,
// and after a rest.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../scripts/bundle.ts";
import { foundationDbClusters } from "../src/api/cluster.ts";
import { serveHttps } from "../src/emulator/https-server.ts";
import { machineClock, sleep } from "../src/env/clock.ts";
import { pods } from "../src/kube/resource.ts";
import { isReconciled, startWorld } from "../src/sim/world.ts";
import type { World, WorldOptions } from "../src/sim/world.ts";
import type { Figures } from "./bridge.ts";
import { OperatorHost } from "./operator-host.ts";
import { clusterKey, nodesFor, sampleCluster } from "./sample-cluster.ts";

export interface MemoryRun {
  clusters: number;
  groups: number;
  bundleBytes: number;
  startMs: number;
  empty: Figures;
  reconciled: Figures;
  rested: Figures;
  reconciledSeconds: number;
  restSeconds: number;
  /** Of many clusters. */
  anew: Anew | undefined;
}

/** Another operator that finds one pod missing. */
export interface Anew {
  /** Processor time until its copies are filled. */
  fillCpuMs: number;
  /** Processor time from then until the pod is made again. */
  actCpuMs: number;
  /** The same in seconds, on a machine that may have other things to do. */
  actSeconds: number;
  longestTurnMs: number;
}

export interface MemoryOptions {
  clusters: number;
  /** Of each cluster. */
  groups: number;
  seed: number;
  restSeconds: number;
  progress: (text: string) => void;
}

const reconcileLimitMs = 120_000;
const reconcileLimitOfManyMs = 1_800_000;
/** What a status was held back for is written by then, and statuses of the database are asked for twice a minute. */
const settleMs = 45_000;
/** Of many clusters: a scheduler looks at all nodes for each pod. */
const podsPerNode = 90;
const nodeCapacity = { cpu: "64", memory: "256Gi", pods: "110" };
const emptyRestMs = 3_000;

export async function runMemory(options: MemoryOptions): Promise<MemoryRun> {
  const { seed, groups } = options;
  const { version } = sampleCluster(groups).spec;
  return withOperatorProcess({ seed, ...nodesOf(options), version }, async (place) => {
    const host = await place.start();
    const { bundleBytes } = place;
    const measured = await measure(options, place.world, host);
    if (options.clusters === 1) return { bundleBytes, ...measured, anew: undefined };
    options.progress("another operator, and one pod is missing");
    await host.stop();
    return { bundleBytes, ...measured, anew: await beginAnew(options, place) };
  });
}

async function beginAnew({ clusters }: MemoryOptions, place: OperatorPlace): Promise<Anew> {
  const { client, clock } = place.world;
  const namespace = clusterKey.namespace;
  // The one that comes last by its name.
  const clusterName = namesOf(clusters).toSorted().at(-1);
  const labelSelector = `foundationdb.org/fdb-cluster-name=${clusterName}`;
  const { items } = await client.list(pods, { namespace, labelSelector });
  const lost = items.find(({ metadata }) => metadata.name?.includes("stateless"));
  const key = { namespace, name: lost?.metadata.name ?? "" };
  await client.delete(pods, key, { gracePeriodSeconds: 0 });
  const host = await place.start();
  const startedMs = clock.nowMs();
  while ((await client.find(pods, key)) === undefined) {
    if (clock.nowMs() - startedMs > reconcileLimitMs) throw new Error(`${key.name} stays away`);
    await sleep(clock, 10);
  }
  const actSeconds = (clock.nowMs() - startedMs) / 1000;
  const { cpuMs } = await host.figures();
  await sleep(clock, settleMs);
  const { longestTurnMs } = await host.figures();
  const fillCpuMs = host.startCpuMs;
  return { fillCpuMs, actCpuMs: cpuMs - fillCpuMs, actSeconds, longestTurnMs };
}

/** An emulated Kubernetes whose operator is a process of its own. */
export interface OperatorPlace {
  world: World;
  bundleBytes: number;
  /** Starts the operator; the one before must have been stopped. */
  start: () => Promise<OperatorHost>;
}

export async function withOperatorProcess<T>(
  {
    version,
    ...options
  }: Pick<WorldOptions, "nodes" | "nodeCapacity" | "seed"> & { version: string },
  work: (place: OperatorPlace) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "fdb-operator-bench-"));
  const clock = machineClock();
  const world = startWorld({ clock, ...options, zones: 3 });
  const served = await serveHttps(world.server, { port: 0 });
  const hosts: OperatorHost[] = [];
  try {
    const file = join(folder, "operator-process.mjs");
    const bundleBytes = await bundle("bench/operator-process.ts", file);
    await world.started;
    // The world's own operator leaves; the measured one takes over.
    await world.stopOperator();
    const { url: server, caPem: certificateAuthority, token } = served;
    const connection = { server, certificateAuthority, token };
    const start = async (): Promise<OperatorHost> => {
      const host = await OperatorHost.start(file, world, connection, [version]);
      hosts.push(host);
      return host;
    };
    return await work({ world, bundleBytes, start });
  } finally {
    for (const host of hosts) await host.stop();
    await world.stop();
    await served.close();
    clock.stop();
    rmSync(folder, { recursive: true });
  }
}

async function measure(
  { clusters, groups, restSeconds, progress }: MemoryOptions,
  world: World,
  host: OperatorHost,
): Promise<Omit<MemoryRun, "bundleBytes" | "anew">> {
  progress("the operator in a process of its own: no cluster");
  await sleep(world.clock, emptyRestMs);
  const empty = await host.figures();
  progress(`the operator in a process of its own: ${clusters} x ${groups} groups in real time`);
  const createdMs = world.clock.nowMs();
  const limitMs = clusters === 1 ? reconcileLimitMs : reconcileLimitOfManyMs;
  for (const name of namesOf(clusters)) {
    const cluster = sampleCluster(groups);
    const metadata = { ...cluster.metadata, name };
    await world.client.create(foundationDbClusters, { ...cluster, metadata });
  }
  for (const name of namesOf(clusters)) await untilReconciled(world, name, createdMs + limitMs);
  const reconciledSeconds = (world.clock.nowMs() - createdMs) / 1000;
  if (clusters > 1) await sleep(world.clock, settleMs);
  const reconciled = await host.figures();
  progress(`the operator in a process of its own: ${restSeconds} s of rest`);
  await sleep(world.clock, restSeconds * 1000);
  const rested = await host.figures();
  const { startMs } = host;
  return { clusters, groups, startMs, empty, reconciled, rested, reconciledSeconds, restSeconds };
}

function namesOf(clusters: number): string[] {
  const { name } = clusterKey;
  return Array.from({ length: clusters }, (_, index) => (index === 0 ? name : `${name}-${index}`));
}

function nodesOf({
  clusters,
  groups,
}: MemoryOptions): Pick<WorldOptions, "nodes" | "nodeCapacity"> {
  if (clusters === 1) return { nodes: nodesFor(groups) };
  return { nodes: 9 + Math.ceil((clusters * groups) / podsPerNode), nodeCapacity };
}

export async function untilReconciled(
  world: World,
  name: string,
  deadlineMs: number,
): Promise<void> {
  const key = { ...clusterKey, name };
  while (world.clock.nowMs() < deadlineMs) {
    if (isReconciled(await world.client.get(foundationDbClusters, key))) return;
    await sleep(world.clock, 100);
  }
  const { status } = await world.client.get(foundationDbClusters, key);
  throw new Error(`not reconciled; it waits for ${JSON.stringify(status?.blockedBy ?? [])}`);
}
