// docs/terminal.svg, one of what `npm run pictures` writes: what `npm start` shows half way and at the end, from a run in virtual time.
// Rules: spec/manual.md [MAN9].
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { foundationDbClusters } from "../src/api/cluster.ts";
import type { FoundationDBCluster } from "../src/api/cluster.ts";
import { createResources } from "../src/cli/create-resources.ts";
import { isSettled, progressOf } from "../src/cli/dev-progress.ts";
import { readDocuments } from "../src/cli/documents.ts";
import { renderProgress } from "../src/cli/progress-view.ts";
import { VirtualClock } from "../src/env/virtual-clock.ts";
import { startWorld } from "../src/sim/world.ts";
import type { World } from "../src/sim/world.ts";
import { terminalPicture } from "./terminal-picture.ts";

const root = dirname(import.meta.dirname);
const columns = 112;

/** The same every time: one seed, one history. */
export async function drawTerminal(): Promise<string> {
  const clock = new VirtualClock();
  const startedMs = clock.nowMs();
  const actions: string[] = [];
  const world = startWorld({
    clock,
    seed: 1,
    onActivity: (activity) => {
      if (activity.type === "action") actions.push(activity.text);
    },
  });
  let isUp = false;
  void world.started.then(() => {
    isUp = true;
  });
  await clock.run({ until: () => isUp });
  const documents = await readDocuments(join(root, "examples", "cluster.yaml"));
  await createResources(world.client, world.transport, documents);
  const show = (cluster: FoundationDBCluster): string[] => {
    const state = progressOf(cluster, { nowMs: clock.nowMs(), startedMs, actions });
    return renderProgress(state, { width: columns, hasColor: true });
  };
  const half = await clusterWhen(world, clock, (cluster) => {
    const { conditions = [], connectionString = "" } = cluster.status ?? {};
    return connectionString !== "" && conditions.some(({ type }) => type === "Available");
  });
  const lines = ["$ npm start", "", ...show(half), "", "\u001b[90m...\u001b[39m", ""];
  const end = await clusterWhen(world, clock, isSettled);
  lines.push(...show(end));
  await world.stop();
  return terminalPicture(lines, columns);
}

async function clusterWhen(
  world: World,
  clock: VirtualClock,
  isWanted: (cluster: FoundationDBCluster) => boolean,
): Promise<FoundationDBCluster> {
  for (let tries = 0; tries < 10_000; tries += 1) {
    const sample = { namespace: "default", name: "sample" };
    const cluster = await world.client.get(foundationDbClusters, sample);
    if (isWanted(cluster)) return cluster;
    await clock.advance(100);
  }
  throw new Error("the sample cluster did not come up: no picture was drawn");
}

export async function writeTerminalPicture(): Promise<void> {
  writeFileSync(join(root, "docs", "terminal.svg"), await drawTerminal());
  process.stdout.write("docs/terminal.svg\n");
}
