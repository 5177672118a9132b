// Writes docs/terminal.svg: what `npm start` shows half way and at the end, from a run in virtual time.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { foundationDbClusters } from "../src/api/cluster.ts";
import type { FoundationDBCluster } from "../src/api/cluster.ts";
import { isSettled, progressOf } from "../src/cli/dev-progress.ts";
import { readDocuments } from "../src/cli/documents.ts";
import { renderProgress } from "../src/cli/progress-view.ts";
import { VirtualClock } from "../src/env/virtual-clock.ts";
import { startWorld } from "../src/sim/world.ts";
import { terminalPicture } from "./terminal-picture.ts";

const root = dirname(import.meta.dirname);
const columns = 112;
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
const [sample] = await readDocuments(join(root, "examples", "cluster.yaml"));
if (sample === undefined) throw new Error("the sample is empty");
const resource = sample.object as FoundationDBCluster;
await world.client.create(foundationDbClusters, {
  ...resource,
  metadata: { ...resource.metadata, namespace: "default" },
});
const half = await pictureWhen(
  (cluster) =>
    (cluster.status?.conditions ?? []).some(({ type }) => type === "Available") &&
    cluster.status?.connectionString !== undefined &&
    cluster.status.connectionString !== "",
);
const end = await pictureWhen(isSettled);
await world.stop();
const lines = ["$ npm start", "", ...half, "", "\u001b[90m...\u001b[39m", "", ...end];
writeFileSync(join(root, "docs", "terminal.svg"), terminalPicture(lines, columns));

async function pictureWhen(isWanted: (cluster: FoundationDBCluster) => boolean): Promise<string[]> {
  for (let tries = 0; tries < 10_000; tries += 1) {
    const cluster = await world.client.get(foundationDbClusters, {
      namespace: "default",
      name: "sample",
    });
    if (isWanted(cluster)) {
      const state = progressOf(cluster, { nowMs: clock.nowMs(), startedMs, actions });
      return renderProgress(state, { width: columns, hasColor: true });
    }
    await clock.advance(100);
  }
  throw new Error("the picture never came");
}
