// A rolling update of 100 storage pods with every host a fault domain, with ten and with five logical ones: how many
// rounds it takes, and how long in virtual time.
import { foundationDbClusters } from "../src/api/cluster.ts";
import type { ClusterSpec } from "../src/api/cluster.ts";
import { VirtualClock } from "../src/env/virtual-clock.ts";
import { isReconciled, startWorld } from "../src/sim/world.ts";
import { inVirtualTime } from "./in-virtual-time.ts";
import { mark } from "./aims.ts";
import type { Aim } from "./report.ts";
import { clusterKey, sampleCluster } from "./sample-cluster.ts";
import { renderTable } from "./table.ts";
import type { Column } from "./table.ts";

export interface PackedUpdateRun {
  name: string;
  fault: number;
  rounds: number;
  seconds: number;
}

const storage = 100;
const nodes = 112;
const minuteMs = 60_000;
const limitMs = 24 * 60 * minuteMs;

export async function runPackedUpdates(
  progress: (text: string) => void,
): Promise<PackedUpdateRun[]> {
  const runs: PackedUpdateRun[] = [];
  for (const domains of [undefined, 10, 5]) {
    const name = domains === undefined ? `${storage} hosts` : `${domains} logical`;
    progress(`rolling update of ${storage} storage pods, ${name}`);
    runs.push({ name, fault: domains ?? storage, ...(await update(domains)) });
  }
  return runs;
}

async function update(domains: number | undefined) {
  const clock = new VirtualClock();
  let rounds = 0;
  const world = startWorld({
    clock,
    seed: 1,
    nodes,
    onActivity(activity) {
      if (activity.type === "action" && activity.action.type === "deletePods") rounds += 1;
    },
  });
  const settle = async (generation: number): Promise<void> => {
    const startedMs = clock.nowMs();
    for (;;) {
      const cluster = await world.client.get(foundationDbClusters, clusterKey);
      if (cluster.metadata.generation === generation && isReconciled(cluster)) return;
      if (clock.nowMs() - startedMs > limitMs) throw new Error("the update does not end");
      await clock.advance(1_000);
    }
  };
  try {
    await inVirtualTime(clock, world.started);
    const cluster = sampleCluster(storage + 12);
    const distributionConfig =
      domains === undefined ? {} : { enabled: true, desiredFaultDomains: domains };
    const processCounts = { storage, log: 5, stateless: 5 };
    const spec: ClusterSpec = { ...cluster.spec, processCounts, distributionConfig };
    await world.client.create(foundationDbClusters, { ...cluster, spec });
    await settle(1);
    await clock.advance(5 * minuteMs);
    const [startedMs, before] = [clock.nowMs(), rounds];
    const general = spec.processes?.["general"];
    const template = general?.podTemplate?.spec;
    const podTemplate = { spec: { ...template, terminationGracePeriodSeconds: 20 } };
    const change = { spec: { processes: { storage: { ...general, podTemplate } } } };
    await world.client.patch(foundationDbClusters, clusterKey, change, { type: "merge" });
    await settle(2);
    return { rounds: rounds - before, seconds: Math.round((clock.nowMs() - startedMs) / 1000) };
  } finally {
    await inVirtualTime(clock, world.stop());
  }
}

export function packedUpdateTable(runs: readonly PackedUpdateRun[]): string {
  const columns: Column<PackedUpdateRun>[] = [
    { title: "fault domains", align: "left", cell: ({ name }) => name },
    { title: "rounds", cell: ({ rounds }) => String(rounds) },
    { title: "aim", cell: ({ fault }) => `= ${fault}` },
    { title: "virtual s", cell: ({ seconds }) => String(seconds) },
    { title: "", align: "left", cell: ({ rounds, fault }) => mark(rounds === fault) },
  ];
  return renderTable(`A rolling update of ${storage} storage pods`, columns, runs);
}

export function packedUpdateAims(runs: readonly PackedUpdateRun[]): Aim[] {
  return runs.map(({ name, rounds, fault }) => ({
    ...{ what: `rounds of an update, ${name}`, value: rounds, limit: fault },
    isMet: rounds === fault,
  }));
}
