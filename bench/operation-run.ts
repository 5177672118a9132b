// A running cluster of a given size in virtual time: what each operation on it costs and how long it
// takes until the cluster is as it should be again.
import { conditionIn } from "../src/kube/condition.ts";
import { foundationDbClusters } from "../src/api/cluster.ts";
import type { FoundationDBCluster } from "../src/api/cluster.ts";
import type { Pod } from "../src/kube/generated/types.ts";
import { leases } from "../src/kube/resource.ts";
import { VirtualClock } from "../src/env/virtual-clock.ts";
import { isReconciled, startWorld } from "../src/sim/world.ts";
import type { World } from "../src/sim/world.ts";
import { inVirtualTime } from "./in-virtual-time.ts";
import { clusterForOperations, lives } from "./operations.ts";
import type { Life, Operation, OperationId } from "./operations.ts";
import { clusterKey, nodesFor } from "./sample-cluster.ts";

export interface OperationRun {
  groups: number;
  id: OperationId;
  name: string;
  /** Without leases and watches. */
  requests: number;
  statusWrites: number;
  /** The same requests by verb and kind, for whoever looks for the next one to save. */
  requestsByKind: Readonly<Record<string, number>>;
  /** The database counts two generations for each. */
  recoveries: number;
  /** Absent for what does not change the resource. */
  reconciledSeconds?: number;
  /** Absent when it did not become clean within the limit. */
  cleanSeconds?: number;
  /** Why not, when it did not. */
  waitsFor?: string;
}

export interface OperationsOptions {
  groups: number;
  seed: number;
  progress: (text: string) => void;
}

const minuteMs = 60_000;
const creationLimitMs = 15 * minuteMs;
const operationLimitMs = 8 * 60 * minuteMs;
/** A cluster that is clean for this long is at rest: held-back status writes are done. */
const restMs = 2 * minuteMs;
/** Between operations: long enough for the database to count as up for a while. */
const pauseMs = 15 * minuteMs;
/** Real time between two lines of progress. */
const progressMs = 5_000;

/** What a person sees, kept up to date with every change that is stored. */
interface View {
  isReconciled: boolean;
  reconciledMs: number;
  isClean: boolean;
  /** When it became clean the last time. */
  cleanMs: number;
}

interface Bench {
  world: World;
  clock: VirtualClock;
  /** Of the operator, by verb and kind, without leases and watches. */
  requests: Map<string, number>;
  view: View;
}

export async function runOperations(options: OperationsOptions): Promise<OperationRun[]> {
  const runs: OperationRun[] = [];
  for (const life of lives) runs.push(...(await runLife(life, options)));
  return runs;
}

async function runLife(life: Life, options: OperationsOptions): Promise<OperationRun[]> {
  const { groups, progress } = options;
  const bench = await openBench(options);
  const runs: OperationRun[] = [];
  try {
    progress(`${groups} process groups: creation with ${life.version}`);
    await bench.world.client.create(
      foundationDbClusters,
      clusterForOperations(groups, life.version),
    );
    await untilRest(bench, creationLimitMs);
    if (!bench.view.isClean) throw new Error(`creation: it waits for ${await waitsOf(bench)}`);
    for (const operation of life.operations) {
      await bench.clock.advance(pauseMs);
      runs.push(await measure(bench, operation, options));
    }
    return runs;
  } finally {
    await inVirtualTime(bench.clock, bench.world.stop());
  }
}

async function openBench({ groups, seed }: OperationsOptions): Promise<Bench> {
  const clock = new VirtualClock();
  const requests = new Map<string, number>();
  const world = startWorld({
    clock,
    seed,
    nodes: nodesFor(groups),
    zones: 3,
    onRequest({ verb, resource, subresource }) {
      if (verb === "watch" || resource.plural === leases.plural) return;
      const kind = kindOf(resource.plural, subresource);
      const key = `${verb} ${kind}`;
      requests.set(key, (requests.get(key) ?? 0) + 1);
    },
  });
  const view = watch(world, clock);
  await inVirtualTime(clock, world.started);
  await clock.advance(5_000);
  return { world, clock, requests, view };
}

function kindOf(plural: string, subresource: string | undefined): string {
  return subresource === undefined ? plural : `${plural}/${subresource}`;
}

/**
 * Reconciled: the newest generation is in force. Clean: besides no process group has a condition or
 * is on its way out, and each has a pod that is ready.
 */
function watch(world: World, clock: VirtualClock): View {
  const view: View = { isReconciled: false, reconciledMs: 0, isClean: false, cleanMs: 0 };
  const readyPods = new Map<string, boolean>();
  let cluster: FoundationDBCluster | undefined;
  world.server.context.store.subscribeAll(({ type, storageKey, name, object }) => {
    if (storageKey === "/pods") {
      if (type === "DELETED") readyPods.delete(name);
      else readyPods.set(name, isReady(object as unknown as Pod));
    } else if (storageKey.endsWith(`/${foundationDbClusters.plural}`)) {
      cluster = object as unknown as FoundationDBCluster;
    } else return;
    const wasReconciled = view.isReconciled;
    const wasClean = view.isClean;
    view.isReconciled = cluster !== undefined && isReconciled(cluster);
    view.isClean = view.isReconciled && cluster !== undefined && isClean(cluster, readyPods);
    if (view.isReconciled && !wasReconciled) view.reconciledMs = clock.nowMs();
    if (view.isClean && !wasClean) view.cleanMs = clock.nowMs();
  });
  return view;
}

/** A pod that somebody has deleted is as good as gone. */
function isReady({ metadata, status }: Pod): boolean {
  if (metadata?.deletionTimestamp !== undefined) return false;
  const condition = conditionIn(status, "Ready");
  return condition?.status === "True";
}

function isClean({ status }: FoundationDBCluster, readyPods: Map<string, boolean>): boolean {
  const groups = status?.processGroups ?? [];
  return (
    groups.length === readyPods.size &&
    groups.every(
      ({ removalTimestamp, processGroupConditions = [] }) =>
        removalTimestamp === undefined && processGroupConditions.length === 0,
    ) &&
    [...readyPods.values()].every((ready) => ready)
  );
}

async function untilRest({ clock, view }: Bench, limitMs: number, tell?: () => void) {
  const deadlineMs = clock.nowMs() + limitMs;
  let toldAt = performance.now();
  await clock.run({
    untilMs: deadlineMs,
    until() {
      if (tell !== undefined && performance.now() - toldAt > progressMs) {
        toldAt = performance.now();
        tell();
      }
      return view.isClean && clock.nowMs() - view.cleanMs >= restMs;
    },
  });
}

async function measure(
  bench: Bench,
  operation: Operation,
  { groups, progress }: OperationsOptions,
): Promise<OperationRun> {
  const { world, clock, requests, view } = bench;
  const name = operation.name(groups);
  const title = `${groups} process groups: ${name}`;
  progress(title);
  const generation = generationOf(world);
  requests.clear();
  const startedMs = clock.nowMs();
  const secondsUntil = (atMs: number): number => (atMs - startedMs) / 1000;
  await operation.start(world, groups);
  await untilRest(bench, operationLimitMs, () =>
    progress(`${title}: virtual second ${Math.floor(secondsUntil(clock.nowMs()))}`),
  );
  const isNewGeneration = view.reconciledMs >= startedMs;
  return {
    groups,
    id: operation.id,
    name,
    ...countsOf(requests),
    recoveries: (generationOf(world) - generation) / 2,
    ...(view.isReconciled && isNewGeneration
      ? { reconciledSeconds: secondsUntil(view.reconciledMs) }
      : {}),
    ...(view.isClean
      ? { cleanSeconds: secondsUntil(view.cleanMs) }
      : { waitsFor: await waitsOf(bench) }),
  };
}

function countsOf(
  requests: ReadonlyMap<string, number>,
): Pick<OperationRun, "requests" | "statusWrites" | "requestsByKind"> {
  const clusterStatus = kindOf(foundationDbClusters.plural, "status");
  const entries = [...requests].sort(([left], [right]) => (left < right ? -1 : 1));
  const sum = (matches: (key: string) => boolean): number =>
    entries.reduce((total, [key, count]) => total + (matches(key) ? count : 0), 0);
  return {
    requests: sum(() => true),
    statusWrites: sum((key) => key.endsWith(` ${clusterStatus}`) && !key.startsWith("get ")),
    requestsByKind: Object.fromEntries(entries),
  };
}

function generationOf(world: World): number {
  const databases = world.fdb.truth.databases();
  return databases.find(({ isConfigured }) => isConfigured)?.generation ?? 0;
}

async function waitsOf({ world }: Bench): Promise<string> {
  const { status } = await world.client.get(foundationDbClusters, clusterKey);
  const waits = (status?.blockedBy ?? []).map(({ reason, message }) => `${reason}: ${message}`);
  return waits.join("; ") || "nothing that it tells";
}
