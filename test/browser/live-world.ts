// A whole world in this process, on the machine's clock at many times its speed, and the dashboard of `npm start` on it.
import { join } from "node:path";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { createResources } from "../../src/cli/create-resources.ts";
import { openDashboard } from "../../src/cli/dev-dashboard.ts";
import { readDocuments } from "../../src/cli/documents.ts";
import { machineClock } from "../../src/env/clock.ts";
import { nodes } from "../../src/kube/resource.ts";
import { startWorld } from "../../src/sim/world.ts";
import type { World } from "../../src/sim/world.ts";

const speed = 40;
const namespace = "default";

export interface LiveWorld {
  readonly world: World;
  /** Of the dashboard. */
  readonly url: string;
  close(): Promise<void>;
}

export async function openWorld(): Promise<LiveWorld> {
  const clock = machineClock(speed);
  const world = startWorld({ clock, seed: 1 });
  await world.started;
  const dashboard = await openDashboard(world, {
    ...{ port: 0, index: 0, speed, realClock: machineClock(), log: undefined },
    where: "https://emulated",
  });
  return {
    world,
    url: dashboard.url,
    async close() {
      await dashboard.close();
      await world.stop();
    },
  };
}

/** The sample of `npm start`, under another name and with other fields where they are given. */
export async function createCluster(
  { world }: LiveWorld,
  name: string,
  change: (cluster: FoundationDBCluster) => void = () => {},
): Promise<void> {
  const file = join(import.meta.dirname, "../../examples/cluster.yaml");
  const documents = await readDocuments(file);
  for (const { object } of documents) {
    object.metadata = { name, namespace };
    change(object as FoundationDBCluster);
  }
  await createResources(world.client, world.transport, documents);
}

export async function changeCluster(
  { world }: LiveWorld,
  name: string,
  spec: Partial<FoundationDBCluster["spec"]>,
): Promise<void> {
  await world.client.patch(foundationDbClusters, { namespace, name }, { spec }, { type: "merge" });
}

/** No pod finds a node while they are closed. */
export async function closeNodes({ world }: LiveWorld, unschedulable: boolean): Promise<void> {
  const { items } = await world.client.list(nodes);
  for (const { metadata } of items) {
    const node = { name: metadata.name ?? "" };
    await world.client.patch(nodes, node, { spec: { unschedulable } }, { type: "merge" });
  }
}
