// The example of several operators on one database, `ha`, with every part real but the nodes and the database: three API
// servers, and on each the rendered chart and an operator of its own with exactly its service account. One operator is
// killed while all roll out a knob, another one while it replaces a process group. Rules: spec/multi.md [MU40]-[MU42].
import assert from "node:assert/strict";
import { foundationDbClusters } from "../../src/api/cluster.ts";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { exampleOf } from "../../src/cli/examples.ts";
import { takeStage } from "../../src/cli/take-stage.ts";
import { machineClock } from "../../src/env/clock.ts";
import { silentLog } from "../../src/env/log.ts";
import { readSets } from "../../src/fdb/coordination-sets.ts";
import { coordinationSets, operatorKeys } from "../../src/fdb/keys.ts";
import { persistentVolumeClaims } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { DatabaseTruth } from "../../src/sim/database/ground-truth.ts";
import { connectSimulated } from "../../src/sim/remote/remote-databases.ts";
import { isReconciled } from "../../src/sim/world.ts";
import { eventually } from "../eventually.ts";
import { install, operatorNamespace, operatorUser } from "./installation.ts";
import { startNodes, startOperator } from "./programs.ts";
import type { Nodes, OperatorSettings, Program } from "./programs.ts";
import { haste } from "./sample-cluster.ts";
import type { EndToEnd } from "./scenario.ts";

const example = exampleOf("ha");
export const operatorClusters = example.sites;
const clock = machineClock();
const key = { namespace: "default", name: "sample" };
/** Several waits of half a minute each, in which instances watch each other, and data on the way between regions. */
const patienceMs = 600_000;

export async function actAsOne(...worlds: readonly EndToEnd[]): Promise<void> {
  const stage = await openStage(worlds);
  for (const step of example.stages.filter(({ isCounted }) => isCounted !== true)) {
    await stage.during(step.title, async () => {
      await takeStage(step, worlds);
      await stage.hasten();
    });
  }
  await rollOutKnob(stage);
  await replaceOne(stage);
  await stage.noEntries();
  await checkData(stage);
  for (const world of worlds) checkRights(world);
  for (const seat of stage.seats) {
    seat.operator.kill("SIGTERM");
    assert.equal(await seat.operator.ended, 0, seat.operator.lines.slice(-5).join("\n"));
  }
}

interface Seat {
  readonly world: EndToEnd;
  readonly settings: OperatorSettings;
  operator: Program;
}

async function openStage(worlds: readonly EndToEnd[]): Promise<Stage> {
  const [first, ...others] = worlds;
  assert.ok(first);
  const tokens: string[] = [];
  for (const world of worlds) tokens.push(await install(world, ["scope=cluster"]));
  const { nodes: count, zones } = example;
  const nodes = await startNodes(first, { nodes: count, zones, seed: 1, hurry: true }, others);
  const { databasePort } = nodes;
  const seats = worlds.map((world, index) => {
    const settings: OperatorSettings = {
      ...{ token: tokens[index] ?? "", namespace: operatorNamespace, clusterWide: true },
      ...{ databasePort, flags: haste },
    };
    return { world, settings, operator: startOperator(world, settings) };
  });
  return new Stage(nodes, seats, first.say);
}

class Stage {
  readonly nodes: Nodes;
  readonly seats: readonly Seat[];
  readonly say: (line: string) => void;

  constructor(nodes: Nodes, seats: readonly Seat[], say: (line: string) => void) {
    this.nodes = nodes;
    this.seats = seats;
    this.say = say;
  }

  seat(name: string): Seat {
    const found = this.seats.find(({ world }) => world.name === name);
    assert.ok(found, name);
    return found;
  }

  /** Does something, and waits until all clusters that there are then are as their resources want them. */
  async during(title: string, act: () => Promise<void>): Promise<void> {
    const startedMs = clock.nowMs();
    await act();
    try {
      await eventually(title, () => this.#areReconciled(), patienceMs);
    } catch (error) {
      throw new Error(await this.#explain(title), { cause: error });
    }
    this.say(`${title} ${Math.round((clock.nowMs() - startedMs) / 1000)} s`);
  }

  /** The operator is gone from one moment to the next, and another one comes. */
  async killOperator(name: string): Promise<void> {
    const seat = this.seat(name);
    seat.operator.kill("SIGKILL");
    await seat.operator.ended;
    seat.operator = startOperator(seat.world, seat.settings);
  }

  /** A database that has just recovered may be restarted soon. */
  async hasten(): Promise<void> {
    const patch = { spec: { minimumUptimeSecondsForBounce: 5 } };
    for (const { world } of this.seats) {
      const { items } = await world.client.list(foundationDbClusters);
      if (items.length === 0) continue;
      await world.client.patch(foundationDbClusters, key, patch, { type: "merge" });
    }
  }

  cluster(name: string): Promise<Stored<FoundationDBCluster>> {
    return this.seat(name).world.client.get(foundationDbClusters, key);
  }

  /** The one database of all. */
  async database(): Promise<DatabaseTruth> {
    const { databases } = await this.nodes.truth();
    const [found, ...more] = databases.filter(({ isConfigured }) => isConfigured);
    assert.ok(found, "there is no database");
    assert.deepEqual(more, [], "another database was created");
    return found;
  }

  /** What is in the coordination sets, as set/process group. */
  async entries(): Promise<string[]> {
    const { databasePort } = this.nodes;
    const remote = await connectSimulated("127.0.0.1", databasePort, clock, silentLog);
    const { connectionString } = await this.database();
    const version = (await this.cluster("main")).status?.runningVersion ?? "";
    const admin = remote.admin.open({ name: "test", connectionString, version });
    try {
      const sets = await readSets({ admin, keys: operatorKeys() }, coordinationSets);
      return coordinationSets.flatMap((set) =>
        sets[set].entries.map((entry) => `${set}/${entry.processGroupId}`),
      );
    } finally {
      admin.close();
      await remote.close();
    }
  }

  async noEntries(): Promise<void> {
    const ask = async (): Promise<true | undefined> =>
      (await this.entries()).length === 0 || undefined;
    await eventually("nobody has anything left to tell", ask, patienceMs);
  }

  async #areReconciled(): Promise<true | undefined> {
    for (const { world, operator } of this.seats) {
      if (operator.child.exitCode !== null) throw new Error(`the operator of ${world.name} ended`);
      const cluster = await world.client.find(foundationDbClusters, key);
      if (cluster === undefined) continue;
      const isServed = cluster.status?.health?.available === true;
      if (!isReconciled(cluster) || !isServed) return undefined;
    }
    return (await this.database()).isAvailable || undefined;
  }

  async #explain(title: string): Promise<string> {
    const texts = [title];
    for (const { world, operator } of this.seats) {
      const cluster = await world.client.find(foundationDbClusters, key);
      texts.push(`${world.name}: ${JSON.stringify(cluster?.status?.blockedBy)}`);
      texts.push(...operator.lines.slice(-10));
    }
    return texts.join("\n");
  }
}

/** [MU41] One recovery for all, though one of the operators dies after it has announced its part. */
async function rollOutKnob(stage: Stage): Promise<void> {
  const [knob] = example.stages.filter(({ isCounted }) => isCounted === true);
  assert.ok(knob);
  const [before, volumes] = [await stage.database(), await volumesOf(stage)];
  await stage.during(knob.title, async () => {
    await takeStage(
      knob,
      stage.seats.map(({ world }) => world),
    );
    await eventually("remote has announced its restart", async () => {
      const entries = await stage.entries();
      return entries.some((entry) => entry.startsWith("pendingForRestart/remote-")) || undefined;
    });
    await stage.killOperator("remote");
  });
  const after = await stage.database();
  const causes = causesSince(before, after);
  assert.equal((after.generation - before.generation) / 2, 1, `recoveries: ${causes.join(", ")}`);
  assert.deepEqual(await volumesOf(stage), volumes);
}

function causesSince(before: DatabaseTruth, after: DatabaseTruth): string[] {
  return after.recoveries.slice(before.recoveries.length).map(({ cause }) => cause);
}

/** [MU42] The operator dies when the process group is marked, and the next one goes on. */
async function replaceOne(stage: Stage): Promise<void> {
  const { client } = stage.seat("main").world;
  const storage = (cluster: FoundationDBCluster): string[] =>
    (cluster.status?.processGroups ?? [])
      .filter(({ processClass }) => processClass === "storage")
      .map(({ processGroupID }) => processGroupID);
  const [before, database] = [storage(await stage.cluster("main")), await stage.database()];
  const [leaving = ""] = before;
  await stage.during(`Replacement of ${leaving}.`, async () => {
    const patch = { spec: { processGroupsToRemove: [leaving] } };
    await client.patch(foundationDbClusters, key, patch, { type: "merge" });
    await eventually(`${leaving} is marked`, async () => {
      const groups = (await stage.cluster("main")).status?.processGroups ?? [];
      const group = groups.find(({ processGroupID }) => processGroupID === leaving);
      return group?.removalTimestamp;
    });
    await stage.killOperator("main");
  });
  const after = storage(await stage.cluster("main"));
  assert.ok(!after.includes(leaving), leaving);
  assert.equal(after.length, before.length);
  // A storage process has no part in the transaction system, but it may be a coordinator.
  const causes = causesSince(database, await stage.database());
  assert.equal(new Set(["the coordinators changed", ...causes]).size, 1, causes.join(", "));
}

/** [MU40] Every piece of data is in both regions, and nowhere else. */
async function checkData(stage: Stage): Promise<void> {
  assert.deepEqual((await stage.nodes.truth()).lost, []);
  const { replicas, isAvailable } = await stage.database();
  assert.ok(isAvailable && replicas.length > 0);
  for (const shard of replicas) {
    const kept = shard.replicas.filter(({ isLive, isOnDisk }) => isLive && isOnDisk);
    const centers = kept.map(({ localities }) => localities["dcid"] ?? "");
    assert.deepEqual(centers.toSorted(), ["main", "main", "remote", "remote"]);
  }
}

async function volumesOf({ seats }: Stage): Promise<string[]> {
  const lists = await Promise.all(
    seats.map(({ world }) => world.client.listAll(persistentVolumeClaims)),
  );
  return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.uid ?? "")).toSorted();
}

function checkRights({ name, controlPlane, say }: EndToEnd): void {
  const requests = controlPlane.audited(operatorUser);
  assert.ok(requests.length > 50, `only ${requests.length} requests were audited in ${name}`);
  const forbidden = requests.filter(({ code }) => code === 403);
  assert.deepEqual(
    forbidden.map(({ verb, resource }) => `${verb} ${resource}`),
    [],
  );
  say(`${name}: ${requests.length} requests of the operator, none forbidden`);
}
