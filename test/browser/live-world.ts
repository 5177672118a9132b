// A whole world in this process and the dashboard of `npm start` on it. Its time goes on by a second again and again, as fast as the
// machine can: on a busy one it goes slower, and nothing in it comes too late.
import { join } from "node:path";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { createResources } from "../../src/cli/create-resources.ts";
import { openDashboard } from "../../src/cli/dev-dashboard.ts";
import { readDocuments } from "../../src/cli/documents.ts";
import { machineClock, sleep } from "../../src/env/clock.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import type { Clock } from "../../src/env/clock.ts";
import { nodes } from "../../src/kube/resource.ts";
import { startWorld } from "../../src/sim/world.ts";
import type { World } from "../../src/sim/world.ts";

/** Of the world's time at once, and how long the page has for it. */
const stepMs = 1_000;
const pauseMs = 25;
const namespace = "default";

export interface LiveWorld {
  readonly world: World;
  /** Of the dashboard. */
  readonly url: string;
  close(): Promise<void>;
}

export async function openWorld(): Promise<LiveWorld> {
  const clock = new VirtualClock();
  const realClock = machineClock();
  const world = startWorld({ clock, seed: 1 });
  const ending = new AbortController();
  const passing = passTime(clock, realClock, ending.signal);
  await world.started;
  const dashboard = await openDashboard(world, {
    ...{ port: 0, index: 0, speed: 0, realClock, log: undefined },
    where: "https://emulated",
  });
  return {
    world,
    url: dashboard.url,
    async close() {
      await dashboard.close();
      await world.stop();
      ending.abort();
      await passing;
    },
  };
}

async function passTime(clock: VirtualClock, realClock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.advance(stepMs);
    await sleep(realClock, pauseMs, signal);
  }
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
    // However long a test looks at a process group that fails, it stays.
    const { spec } = object as FoundationDBCluster;
    Object.assign(spec, { automationOptions: { replacements: { enabled: false } } });
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
