// Resident memory of the bundled operator in real time: with no cluster, with a small one, and
// after a rest.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../scripts/bundle.ts";
import { foundationDbClusters } from "../src/api/cluster.ts";
import { serveHttps } from "../src/emulator/https-server.ts";
import { machineClock, sleep } from "../src/env/clock.ts";
import { isReconciled, startWorld } from "../src/sim/world.ts";
import type { World } from "../src/sim/world.ts";
import type { Figures } from "./bridge.ts";
import { OperatorHost } from "./operator-host.ts";
import { clusterKey, nodesFor, sampleCluster } from "./sample-cluster.ts";

export interface MemoryRun {
  groups: number;
  bundleBytes: number;
  startMs: number;
  empty: Figures;
  reconciled: Figures;
  rested: Figures;
  reconciledSeconds: number;
  restSeconds: number;
}

export interface MemoryOptions {
  groups: number;
  seed: number;
  restSeconds: number;
  progress: (text: string) => void;
}

const reconcileLimitMs = 120_000;
const emptyRestMs = 3_000;

export async function runMemory(options: MemoryOptions): Promise<MemoryRun> {
  const folder = mkdtempSync(join(tmpdir(), "fdb-operator-bench-"));
  const clock = machineClock();
  const world = startWorld({
    clock,
    seed: options.seed,
    nodes: nodesFor(options.groups),
    zones: 3,
  });
  const served = await serveHttps(world.server, { port: 0 });
  let host: OperatorHost | undefined;
  try {
    const file = join(folder, "operator-process.mjs");
    const bundleBytes = await bundle("bench/operator-process.ts", file);
    await world.started;
    // The world's own operator leaves; the measured one takes over.
    await world.stopOperator();
    const { url: server, caPem: certificateAuthority, token } = served;
    const connection = { server, certificateAuthority, token };
    const { version } = sampleCluster(options.groups).spec;
    host = await OperatorHost.start(file, world, connection, [version]);
    return { bundleBytes, ...(await measure(options, world, host)) };
  } finally {
    await host?.stop();
    await world.stop();
    await served.close();
    clock.stop();
    rmSync(folder, { recursive: true });
  }
}

async function measure(
  { groups, restSeconds, progress }: MemoryOptions,
  world: World,
  host: OperatorHost,
): Promise<Omit<MemoryRun, "bundleBytes">> {
  progress("the operator in a process of its own: no cluster");
  await sleep(world.clock, emptyRestMs);
  const empty = await host.figures();
  progress(`the operator in a process of its own: ${groups} process groups in real time`);
  const createdMs = world.clock.nowMs();
  await world.client.create(foundationDbClusters, sampleCluster(groups));
  await untilReconciled(world, createdMs + reconcileLimitMs);
  const reconciledSeconds = (world.clock.nowMs() - createdMs) / 1000;
  const reconciled = await host.figures();
  progress(`the operator in a process of its own: ${restSeconds} s of rest`);
  await sleep(world.clock, restSeconds * 1000);
  const rested = await host.figures();
  const { startMs } = host;
  return { groups, startMs, empty, reconciled, rested, reconciledSeconds, restSeconds };
}

async function untilReconciled(world: World, deadlineMs: number): Promise<void> {
  while (world.clock.nowMs() < deadlineMs) {
    if (isReconciled(await world.client.get(foundationDbClusters, clusterKey))) return;
    await sleep(world.clock, 100);
  }
  const { status } = await world.client.get(foundationDbClusters, clusterKey);
  throw new Error(`not reconciled; it waits for ${JSON.stringify(status?.blockedBy ?? [])}`);
}
