// A random walk: a world drawn from a seed, trouble drawn from the same seed, then everything is healed and the world
// must come to rest with nothing lost. One seed is one history.
import { conditionIn } from "../../src/kube/condition.ts";
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { randomInteger, randomPick } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";
import { configMaps, persistentVolumeClaims } from "../../src/kube/resource.ts";
import { Chaos, troubles } from "../../src/sim/faults/chaos.ts";
import type { Trouble } from "../../src/sim/faults/chaos.ts";
import { OperatorLinks } from "../../src/sim/faults/operator-links.ts";
import { VirtualClock } from "../../src/env/virtual-clock.ts";
import { Invariants } from "./invariants.ts";
import { minuteMs, securedProcesses, TestWorld } from "./world-harness.ts";

export interface WalkOptions {
  steps?: number;
  /** Only these kinds of trouble; all when absent. */
  only?: readonly Trouble[];
  /** Sees the world as it was when the walk failed. */
  onFailure?: (world: TestWorld) => Promise<void>;
}

export interface WalkResult {
  hash: string;
  lines: number;
  troubles: string[];
}

interface Shape {
  nodes: number;
  zones: number;
  clusters: string[];
  spec: Partial<ClusterSpec>;
  startsInPeace: boolean;
}

export function shapeOf(random: Random): Shape {
  const zones = randomInteger(random, 3, 4);
  const redundancy = randomPick(random, ["double", "double", "triple"] as const);
  // Pod addresses change with every new pod, and no one could find such coordinators again: names or services it is.
  const routing = randomPick(random, [
    {},
    {},
    { publicIPSource: "service", useDNSInClusterFile: false },
  ] as const);
  const isDualStack = !("publicIPSource" in routing) && random.next() < 0.3;
  return {
    nodes: randomInteger(random, 2, 3) * zones,
    zones,
    clusters: random.next() < 0.3 ? ["one", "two"] : ["one"],
    startsInPeace: random.next() < 0.6,
    spec: {
      databaseConfiguration: { redundancy_mode: redundancy },
      imageType: randomPick(random, ["unified", "split"]),
      processCounts: {
        storage: redundancy === "triple" ? 5 : randomInteger(random, 3, 5),
        log: redundancy === "triple" ? 4 : 3,
        stateless: randomInteger(random, 2, 4),
      },
      storageServersPerPod: randomInteger(random, 1, 2),
      routing: isDualStack ? { ...routing, podIPFamily: 6 } : routing,
      ...(random.next() < 0.3 ? { mainContainer: { enableTls: true } } : {}),
      processes: securedProcesses,
      ...(random.next() < 0.3 ? { processGroupIDPrefix: "west" } : {}),
      ...(random.next() < 0.3 ? { version: "7.1.57" } : {}),
      logServersPerPod: randomInteger(random, 1, 2),
    },
  };
}

/** Fails with the whole story when anything is not as it must be. */
export async function walk(seed: number, options: WalkOptions = {}): Promise<WalkResult> {
  const random = keyedRandom(seed, "walk");
  const shape = shapeOf(random);
  const clock = new VirtualClock();
  const invariants = new Invariants();
  const links = new OperatorLinks(clock, random);
  const world = await TestWorld.open({
    ...{ seed, clock, nodes: shape.nodes, zones: shape.zones, keepLines: 400 },
    hasCertificates: true,
    wrapTransport: (transport) => links.wrapTransport(invariants.inspectRequests(transport)),
    wrapAdmin: (admin) => links.wrapAdmin(invariants.inspectCommands(admin)),
  });
  invariants.watch(world.world);
  const chaos = new Chaos({
    world: world.world,
    random,
    labelKey: "foundationdb.org/fdb-cluster-name",
    links,
  });
  const made: string[] = [];
  try {
    await walkIn({ world, random, shape, chaos, invariants, made, options });
    return { hash: world.trace.hash(), lines: world.trace.count, troubles: made };
  } catch (error) {
    await options.onFailure?.(world);
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(
      `seed ${seed}: ${message}\nshape ${JSON.stringify(shape)}\n${made.join("\n")}`,
      {
        cause: error,
      },
    );
  } finally {
    await world.close();
  }
}

interface Walk {
  world: TestWorld;
  random: Random;
  shape: Shape;
  chaos: Chaos;
  invariants: Invariants;
  made: string[];
  options: WalkOptions;
}

async function walkIn(course: Walk): Promise<void> {
  const { world, shape, chaos, invariants } = course;
  const startMs = world.clock.nowMs();
  const bystanders = await createBystanders(world);
  for (const name of shape.clusters) await world.createCluster(shape.spec, { name });
  if (shape.startsInPeace) {
    for (const name of shape.clusters) await world.untilReconciled(5 * minuteMs, { name });
  }
  const { steps = 12, only = troubles } = course.options;
  for (let step = 0; step < steps; step += 1) {
    const trouble = randomPick(course.random, only);
    const atSeconds = (world.clock.nowMs() - startMs) / 1000;
    const hit = await world.during(chaos.make(trouble), 5 * minuteMs, trouble);
    course.made.push(`${atSeconds} s: ${trouble} ${hit}`);
    world.trace.append("chaos", trouble, hit);
    await world.clock.advance(randomInteger(course.random, 100, 60_000));
    assert.deepEqual(invariants.violations, []);
  }
  course.made.push(`${(world.clock.nowMs() - startMs) / 1000} s: heal`);
  await world.during(chaos.heal(), minuteMs, "healing");
  for (const name of shape.clusters) await untilSettled(world, 30 * minuteMs, name);
  await world.clock.advance(3 * minuteMs);
  for (const name of shape.clusters) await untilSettled(world, 5 * minuteMs, name);
  await atRest(course, bystanders);
}

/** Coordinators that met on one node stay there: moving them is nobody's business in this walk. */
const settledReasons = new Set(["CoordinatorsUnfit"]);

function untilSettled(world: TestWorld, limitMs: number, name: string): Promise<number> {
  const isSettled = async (): Promise<boolean> => {
    const { metadata, status } = await world.cluster({ name });
    if (status?.health?.available !== true) return false;
    const isReconciled = conditionIn(status, "Reconciled");
    if (isReconciled?.status === "True")
      return status.generations?.reconciled === metadata.generation;
    const reasons = (status.blockedBy ?? []).map(({ reason }) => reason);
    return reasons.length > 0 && reasons.every((reason) => settledReasons.has(reason));
  };
  return world.until(isSettled, "the cluster is settled", limitMs, { name });
}

async function atRest(course: Walk, bystanders: string[]): Promise<void> {
  const { world, shape, invariants } = course;
  world.assertDataSafe(shape.clusters.length);
  assert.deepEqual(await versionsOfBystanders(world), bystanders, "somebody else's objects");
  await world.clock.advance(5 * minuteMs);
  const mark = world.requests.length;
  await world.clock.advance(10 * minuteMs);
  assert.deepEqual(world.writesSince(mark), [], "writes of a cluster at rest");
  assert.deepEqual(invariants.violations, []);
}

/** Objects that look a little like ours and belong to nobody. */
async function createBystanders(world: TestWorld): Promise<string[]> {
  const metadata = (name: string) => ({
    name,
    namespace: "default",
    labels: { "foundationdb.org/fdb-process-group-id": "storage-1" },
  });
  await world.client.create(configMaps, {
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: metadata("one-configuration") },
    data: { "cluster-file": "somebody else's" },
  });
  await world.client.create(persistentVolumeClaims, {
    ...{
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: metadata("one-storage-1-data"),
    },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  return versionsOfBystanders(world);
}

async function versionsOfBystanders(world: TestWorld): Promise<string[]> {
  const namespace = "default";
  const map = await world.client.get(configMaps, { namespace, name: "one-configuration" });
  const claim = await world.client.get(persistentVolumeClaims, {
    namespace,
    name: "one-storage-1-data",
  });
  return [map, claim].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
}
