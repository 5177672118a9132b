// Many clusters on one operator and a real API server, beyond their creation: what a change of all of them at once costs,
// and how soon another instance acts when the first one is killed. Processor time and counts are solid on a busy machine,
// seconds are not.
import { foundationDbClusters } from "../src/api/cluster.ts";
import { sleep } from "../src/env/clock.ts";
import type { Clock } from "../src/env/clock.ts";
import { isKubeError } from "../src/kube/error.ts";
import { pods } from "../src/kube/resource.ts";
import { isReconciled } from "../src/sim/world.ts";
import { operatorNamespace as namespace, operatorUser } from "../test/end-to-end/installation.ts";
import type { Program } from "../test/end-to-end/programs.ts";
import type { EndToEnd } from "../test/end-to-end/scenario.ts";
import { scrape } from "./scraped-metrics.ts";
import type { Metrics } from "./scraped-metrics.ts";

export interface FleetPlace {
  world: EndToEnd;
  clock: Clock;
  say: (line: string) => void;
}

/** What happened between two looks at an operator. */
export interface Phase {
  begun: Metrics;
  ended: Metrics;
  seconds: number;
  /** How long the server took for each request, in milliseconds, sorted. */
  served: readonly number[];
}

export interface TakeOver {
  /** From the kill of the first instance until the other one leads: the Lease has to run out. */
  leadingSeconds: number;
  /** From then until the pod that went missing meanwhile is made again. */
  firstActSeconds: number;
  /** Processor time of the instance from its start until all clusters have been looked at. */
  cpuSeconds: number;
  memoryMiB: number;
}

/** Of a busy machine, and for each cluster. */
const [patienceMs, patienceOfEachMs] = [20 * 60_000, 20_000];
const passes = "fdb_operator_reconciles_total";

export async function untilAllReconciled(
  { world, clock }: FleetPlace,
  names: readonly string[],
): Promise<void> {
  const wanted = new Set(names);
  const untilMs = clock.nowMs() + patienceMs + names.length * patienceOfEachMs;
  while (true) {
    // A server with too much to do is asked again.
    const list = await world.client.list(foundationDbClusters, { namespace }).catch(silence);
    const items = list?.items ?? [];
    const open = items.filter(
      (cluster) => wanted.has(cluster.metadata.name ?? "") && !isReconciled(cluster),
    );
    if (open.length === 0 && items.length >= wanted.size) return;
    if (clock.nowMs() > untilMs) {
      const waits = JSON.stringify(open[0]?.status?.blockedBy ?? []);
      throw new Error(`${open.length} clusters are not reconciled; the first: ${waits}`);
    }
    await sleep(clock, 2_000);
  }
}

function silence(error: unknown): undefined {
  if (!isKubeError(error)) throw error;
}

/** All of them get a knob at the same time. */
export async function changeAll(
  place: FleetPlace,
  operator: Program,
  names: readonly string[],
): Promise<Phase> {
  const { world, clock, say } = place;
  say(`${names.length} clusters get a knob`);
  const begun = await scrape(operator);
  const startedMs = clock.nowMs();
  const spec = { processes: { general: { customParameters: ["knob_max_trace_lines=1000"] } } };
  await Promise.all(
    names.map((name) =>
      world.client.patch(foundationDbClusters, { namespace, name }, { spec }, { type: "merge" }),
    ),
  );
  await untilAllReconciled(place, names);
  const seconds = (clock.nowMs() - startedMs) / 1000;
  return { begun, ended: await scrape(operator), seconds, served: servedSince(world, startedMs) };
}

/** Watches left out. */
export function servedSince({ controlPlane }: EndToEnd, sinceMs: number): number[] {
  return controlPlane
    .audited(operatorUser)
    .filter(({ verb, atMs }) => verb !== "watch" && atMs >= sinceMs)
    .map(({ durationMs }) => durationMs)
    .sort((left, right) => left - right);
}

/** The first instance is killed; a pod of the last cluster goes missing before anybody leads again. */
export async function takeOver(
  { world, clock, say }: FleetPlace,
  first: Program,
  startAnother: () => Program,
  names: readonly string[],
): Promise<TakeOver> {
  say("another instance waits for the Lease");
  const second = startAnother();
  await world.eventually("the other instance has filled its copies", async () => {
    const metrics = await scrape(second).catch(() => undefined);
    const copies = (metrics?.samples ?? []).filter(
      ({ name }) => name === "fdb_operator_watch_synced",
    );
    return (copies.length > 0 && copies.every(({ value }) => value === 1)) || undefined;
  });
  const killedMs = clock.nowMs();
  first.kill("SIGKILL");
  await first.ended;
  const labelSelector = `foundationdb.org/fdb-cluster-name=${names.at(-1)}`;
  const { items } = await world.client.list(pods, { namespace, labelSelector });
  const lost = items.find(({ metadata }) => (metadata.name ?? "").includes("stateless"));
  const name = lost?.metadata.name ?? "";
  await world.client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
  const line = await world.eventually("the other instance leads", async () =>
    second.lines.find((each) => each.includes('"leading"')),
  );
  const ledMs = Date.parse((JSON.parse(line) as { time: string }).time);
  const act = await world.eventually("the pod is made again", async () =>
    world.controlPlane
      .audited(operatorUser)
      .find(
        ({ verb, resource, atMs }) => verb === "create" && resource === "pods" && atMs > killedMs,
      ),
  );
  const looked = await world.eventually("all clusters have been looked at", async () => {
    const metrics = await scrape(second);
    return metrics.sum(passes) >= names.length ? metrics : undefined;
  });
  return {
    leadingSeconds: (ledMs - killedMs) / 1000,
    firstActSeconds: (act.atMs - ledMs) / 1000,
    cpuSeconds: looked.sum("process_cpu_seconds_total"),
    memoryMiB: Math.round(looked.sum("process_resident_memory_bytes") / 2 ** 20),
  };
}
