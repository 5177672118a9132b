// One large cluster among many small ones: for how long a single turn of the operator keeps all others waiting, in
// processor time, so that it does not matter what else the machine has to do. Rule: spec/operate.md [OP79].
import { foundationDbClusters } from "../src/api/cluster.ts";
import { aims, mark } from "./aims.ts";
import { untilReconciled, withOperatorProcess } from "./memory.ts";
import type { OperatorPlace } from "./memory.ts";
import type { OperatorHost } from "./operator-host.ts";
import { clusterKey, sampleCluster } from "./sample-cluster.ts";
import { renderTable } from "./table.ts";

export interface FairnessOptions {
  large: number;
  smalls: number;
  seed: number;
  progress: (text: string) => void;
}

export interface FairnessRow {
  what: string;
  longestTurnMs: number;
  cpuMs: number;
}

const goalMs = aims.longestTurnMs;
const smallGroups = 15;
const limitMs = 30 * 60_000;
const podsPerNode = 90;
const nodeCapacity = { cpu: "64", memory: "256Gi", pods: "110" };

export async function runFairness(options: FairnessOptions): Promise<FairnessRow[]> {
  const { large, smalls, seed } = options;
  const nodes = 9 + Math.ceil((large + smalls * smallGroups) / podsPerNode);
  const { version } = sampleCluster(smallGroups).spec;
  return withOperatorProcess({ nodes, nodeCapacity, seed, version }, (place) =>
    measure(options, place),
  );
}

async function measure(
  { large, smalls, progress }: FairnessOptions,
  place: OperatorPlace,
): Promise<FairnessRow[]> {
  const { world } = place;
  const rows: FairnessRow[] = [];
  let host = await place.start();
  const phase = async (what: string, act: () => Promise<void>): Promise<void> => {
    progress(what);
    const before = await host.figures();
    await act();
    const after = await host.figures();
    rows.push({ what, longestTurnMs: after.longestTurnMs, cpuMs: after.cpuMs - before.cpuMs });
  };
  const names = Array.from({ length: smalls }, (_, index) => `small-${index + 1}`);
  await phase(`${smalls} clusters of ${smallGroups} are made`, async () => {
    for (const name of names) await create(place, name, smallGroups);
    await all(place, names);
  });
  await phase(`one of ${large} is made`, async () => {
    await create(place, clusterKey.name, large);
    await all(place, [clusterKey.name]);
  });
  await phase("the large one gets a knob", async () => {
    const patch = {
      spec: { processes: { general: { customParameters: ["knob_max_trace_lines=1000"] } } },
    };
    await world.client.patch(foundationDbClusters, clusterKey, patch, { type: "merge" });
    await all(place, [clusterKey.name]);
  });
  await phase("all get a look", async () => {
    for (const name of [clusterKey.name, ...names]) {
      const patch = { metadata: { annotations: { "foundationdb.org/reconcile": "now" } } };
      const key = { ...clusterKey, name };
      await world.client.patch(foundationDbClusters, key, patch, { type: "merge" });
    }
    await pause(10_000);
  });
  await host.stop();
  host = await startedAnew(place, progress);
  const { longestTurnMs, cpuMs } = await host.figures();
  rows.push({ what: "another operator begins", longestTurnMs, cpuMs });
  return rows;
}

async function startedAnew(
  place: OperatorPlace,
  progress: (text: string) => void,
): Promise<OperatorHost> {
  progress("another operator begins");
  const host = await place.start();
  await pause(10_000);
  return host;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function create({ world }: OperatorPlace, name: string, groups: number): Promise<void> {
  const cluster = sampleCluster(groups);
  await world.client.create(foundationDbClusters, {
    ...cluster,
    spec: { ...cluster.spec, minimumUptimeSecondsForBounce: 1 },
    metadata: { ...cluster.metadata, name },
  });
}

async function all({ world }: OperatorPlace, names: readonly string[]): Promise<void> {
  const untilMs = world.clock.nowMs() + limitMs;
  for (const name of names) await untilReconciled(world, name, untilMs);
}

export function fairnessTable(rows: readonly FairnessRow[]): string {
  return renderTable<FairnessRow>(
    "One large cluster among small ones",
    [
      { title: "what", align: "left", cell: ({ what }) => what },
      { title: "longest turn, CPU ms", cell: ({ longestTurnMs }) => longestTurnMs.toFixed(0) },
      { title: "aim", cell: () => `<= ${goalMs}` },
      { title: "", align: "left", cell: ({ longestTurnMs }) => mark(longestTurnMs <= goalMs) },
      { title: "CPU s in all", cell: ({ cpuMs }) => (cpuMs / 1000).toFixed(1) },
    ],
    rows,
  );
}
