// A random walk of several operators on one database: wishes for one or all clusters, and trouble with each operator,
// each of its links, its clock and its cluster; then all is healed and must come to rest. One seed is one history.
// Rules: spec/multi.md [MU30], [MU31].
import type { ClusterSpec } from "../../src/api/cluster.ts";
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { randomInteger, randomPick } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";
import { isKubeError } from "../../src/kube/error.ts";
import { keyOf } from "../../src/kube/path.ts";
import { persistentVolumeClaims } from "../../src/kube/resource.ts";
import { cutCluster, restoreCluster } from "../../src/sim/faults/cut-cluster.ts";
import { MultiTestWorld } from "./multi-harness.ts";
import { MultiInspector } from "./multi-inspector.ts";
import { createRegions, threeClusters } from "./multi-regions.ts";
import { absurdSpecs, knownVersions, takenBack } from "../../src/sim/workloads/spec-changes.ts";
import { knobs } from "./restart-harness.ts";
import { hourMs, minuteMs } from "./world-harness.ts";

export interface MultiWalkOptions {
  steps?: number;
}

export interface MultiWalkResult {
  hash: string;
  /** What happened, in order. */
  events: string[];
  recoveries: number;
  kills: number;
  virtualMinutes: number;
}

type Mode = "local" | "global";

interface Walk {
  world: MultiTestWorld;
  random: Random;
  inspector: MultiInspector;
  events: string[];
  /** Clusters without an operator. */
  dead: Set<string>;
  cut: Set<string>;
  commitFaults: { chance: number };
  mode: Mode;
  /** Some may be in the other mode. */
  isMixed: boolean;
  /** The newest that anybody asked for. */
  version: string;
  knob: number;
}

/** Fails with the whole story when anything is not as it must be. */
export async function multiWalk(
  seed: number,
  { steps = 14 }: MultiWalkOptions = {},
): Promise<MultiWalkResult> {
  const random = keyedRandom(seed, "multi walk");
  const hasRegions = random.next() < 0.25;
  const names = hasRegions
    ? threeClusters.names
    : ["east", "west", "north"].slice(0, randomInteger(random, 2, 3));
  const mode: Mode = random.next() < 0.8 ? "global" : "local";
  const commitFaults = { chance: 0 };
  let inspector: MultiInspector | undefined;
  const events: string[] = [];
  let result: MultiWalkResult | undefined;
  try {
    await MultiTestWorld.run(
      {
        ...{ names, seed, nodes: hasRegions ? 5 : 4 },
        skews: Object.fromEntries(names.map((name) => [name, skewOf(random)])),
        database: { commitFault: () => commitFault(random, commitFaults.chance) },
        siteOf: (name, clock) => ({
          wrapAdmin: (admin) => {
            inspector ??= new MultiInspector(clock, names);
            return inspector.inspect(name, admin);
          },
        }),
      },
      async (world) => {
        if (inspector === undefined) throw new Error("no operator has been started");
        const walk: Walk = {
          ...{ world, random, inspector, events, commitFaults, mode, knob: 0, isMixed: false },
          ...{ dead: new Set(), cut: new Set(), version: "" },
        };
        if (hasRegions) await createRegions(world, threeClusters, specOf(mode));
        else await createPlain(walk);
        walk.version = (await world.cluster(names[0] ?? "")).spec.version;
        for (let step = 0; step < steps; step += 1) await takeStep(walk);
        await findPeace(walk);
        result = resultOf(walk);
      },
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(
      `seed ${seed} (${mode}, ${names.join(" ")}): ${message}\n${events.join("\n")}`,
      {
        cause: error,
      },
    );
  }
  if (result === undefined) throw new Error("the walk has no result");
  return result;
}

/** By a few seconds, or by an hour. */
function skewOf(random: Random) {
  return {
    offsetMs: randomPick(random, [0, 1, -1]) * randomPick(random, [3_000, 10_000, hourMs]),
    driftMsPerHour: randomInteger(random, -100, 100),
  };
}

function commitFault(random: Random, chance: number) {
  if (chance === 0 || random.next() >= chance) return undefined;
  return randomPick(random, ["conflict", "unknown-committed", "unknown-lost"] as const);
}

function specOf(synchronizationMode: Mode): Partial<ClusterSpec> {
  return {
    minimumUptimeSecondsForBounce: 30,
    lockOptions: { disableLocks: false },
    automationOptions: { synchronizationMode, waitBetweenRemovalsSeconds: 0 },
  };
}

async function createPlain({ world, mode, inspector }: Walk): Promise<void> {
  await world.createJoined(() => ({
    ...specOf(mode),
    databaseConfiguration: { redundancy_mode: "double" },
    processCounts: { storage: 3, log: 2, stateless: 2 },
  }));
  await world.untilAllReconciled();
  await world.clock.advance(2 * minuteMs);
  inspector.isGlobal = mode === "global";
}

function resultOf({ world, events }: Walk): MultiWalkResult {
  return {
    hash: world.trace.hash(),
    events,
    recoveries: world.database.recoveries.length,
    kills: world.acts("killProcesses").length,
    virtualMinutes: Math.round((world.clock.nowMs() - world.startMs) / minuteMs),
  };
}

function note({ world, events }: Walk, text: string): void {
  events.push(`${(world.clock.nowMs() - world.startMs) / 1000} s ${text}`);
}

async function advance({ world, inspector }: Walk, ms: number): Promise<void> {
  await world.clock.advance(ms);
  const [violation] = inspector.violations;
  if (violation !== undefined) throw new Error(violation);
  const lost = world.multi.ground.fdb.truth.dataLost();
  if (lost.length > 0) throw new Error(`data lost: ${JSON.stringify(lost)}`);
}

async function takeStep(walk: Walk): Promise<void> {
  const { random } = walk;
  const chance = random.next();
  if (chance < 0.25) await rollKnob(walk, walk.world.names);
  else if (chance < 0.35) await rollKnob(walk, [pickName(walk)]);
  else if (chance < 0.5) await replaceSome(walk);
  else if (chance < 0.58) await resize(walk);
  else if (chance < 0.61) await switchMode(walk, walk.mode === "global" ? "local" : "global");
  else if (chance < 0.64) await switchOne(walk);
  else if (chance < 0.68) await upgrade(walk);
  else if (chance < 0.75) await crash(walk);
  else if (chance < 0.83) await revive(walk, pickName(walk));
  else if (chance < 0.86) await deleteClaims(walk);
  else if (chance < 0.88) await wishAbsurdly(walk);
  else await trouble(walk);
  await advance(walk, randomPick(random, [1_000, 10_000, 40_000, 120_000, 400_000]));
}

function pickName({ random, world }: Walk): string {
  return randomPick(random, world.names);
}

async function rollKnob(walk: Walk, names: readonly string[]): Promise<void> {
  const { world, random, inspector } = walk;
  walk.knob += 1;
  note(walk, `knob ${walk.knob} for ${names.join(" ")}`);
  for (const name of names) {
    inspector.noteKnob(name);
    const change = knobs(`knob_max_trace_lines=${1000 + walk.knob}`);
    await world.at(name).changeSpec(change, { name });
    if (random.next() < 0.5) await advance(walk, randomInteger(random, 0, 20_000));
  }
}

async function replaceSome(walk: Walk): Promise<void> {
  const { world, random } = walk;
  const names = random.next() < 0.6 ? world.names : [pickName(walk)];
  const share = randomPick(random, [0.3, 1]);
  for (const name of names) {
    const { status, spec } = await world.cluster(name);
    const chosen = (status?.processGroups ?? [])
      .filter(
        ({ removalTimestamp, processClass }) =>
          removalTimestamp === undefined && (processClass !== "storage" || share < 1),
      )
      .filter(() => random.next() < share)
      .map(({ processGroupID }) => processGroupID);
    const processGroupsToRemove = [...(spec.processGroupsToRemove ?? []), ...chosen];
    note(walk, `replace ${chosen.join(" ")}`);
    await world.at(name).changeSpec({ processGroupsToRemove }, { name });
  }
}

async function resize(walk: Walk): Promise<void> {
  const { world, random } = walk;
  const name = pickName(walk);
  const log = randomInteger(random, 3, 5);
  note(walk, `${log} logs in ${name}`);
  await world.at(name).changeSpec({ processCounts: { log } }, { name });
}

/** Somebody deletes claims that are in use. Pods hold them, so only the hand of an operator could free one. */
async function deleteClaims(walk: Walk): Promise<void> {
  const { world, random } = walk;
  const name = pickName(walk);
  const { client } = world.at(name).world;
  const labelSelector = "foundationdb.org/fdb-process-class=storage";
  const listing = client.list(persistentVolumeClaims, { labelSelector });
  const { items } = await world.at(name).during(listing, minuteMs, "a list of claims");
  const chosen = random.next() < 0.5 ? items : items.slice(0, 1);
  note(
    walk,
    `${name}: claims ${chosen.map(({ metadata }) => metadata.name).join(" ")} are deleted`,
  );
  for (const claim of chosen) {
    const deletion = client.delete(persistentVolumeClaims, keyOf(claim));
    await world.at(name).during(deletion, minuteMs, "the deletion of a claim");
  }
}

/** It is refused, or taken back after a while. */
async function wishAbsurdly(walk: Walk): Promise<void> {
  const { world, random } = walk;
  const name = pickName(walk);
  const { spec } = await world.cluster(name);
  const change = randomPick(random, absurdSpecs);
  const isRefused = await world
    .at(name)
    .changeSpec(change, { name })
    .then(
      () => false,
      (error: unknown) => {
        if (isKubeError(error, "Invalid")) return true;
        throw error;
      },
    );
  note(walk, `${name}: absurd ${JSON.stringify(change)} ${isRefused ? "refused" : "stored"}`);
  if (isRefused) return;
  await advance(walk, randomPick(random, [1_000, 30_000, 120_000]));
  await world.at(name).changeSpec(takenBack(change, spec), { name });
}

async function switchMode(walk: Walk, mode: Mode): Promise<void> {
  note(walk, `${mode} mode`);
  walk.mode = mode;
  // Acts that were decided in the mode before are still on their way.
  walk.inspector.isGlobal = false;
  const change = { automationOptions: { synchronizationMode: mode } };
  await walk.world.changeAll(change);
}

/** One owner changes the mode of one resource alone, which is allowed on the way to all of them. */
async function switchOne(walk: Walk): Promise<void> {
  const { world, random, inspector } = walk;
  const name = pickName(walk);
  const mode = randomPick(random, ["local", "global"] as const);
  note(walk, `${mode} mode of ${name} alone`);
  inspector.isGlobal = false;
  walk.isMixed = true;
  const change = { automationOptions: { synchronizationMode: mode } };
  await world.at(name).changeSpec(change, { name });
}

/** A newer version for one cluster after the other; sometimes one owner takes it back meanwhile. */
async function upgrade(walk: Walk): Promise<void> {
  const { world, random, inspector } = walk;
  const newer = knownVersions.slice(knownVersions.indexOf(walk.version) + 1);
  if (newer.length === 0) return;
  const before = walk.version;
  walk.version = randomPick(random, newer);
  const give = async (name: string, version: string): Promise<void> => {
    note(walk, `version ${version} for ${name}`);
    for (const each of world.names) inspector.noteKnob(each);
    await world.at(name).changeSpec({ version }, { name });
  };
  for (const name of world.names) {
    await give(name, walk.version);
    if (random.next() < 0.5) await advance(walk, randomInteger(random, 0, 20_000));
  }
  if (random.next() < 0.6) return;
  const name = pickName(walk);
  if (random.next() < 0.4) await stopOperator(walk, name, "during an upgrade");
  await advance(walk, randomPick(random, [0, 500, 3_000, 15_000, 60_000]));
  await give(name, before);
}

/** The operator dies at one of its next writes, or right now, and stays away for a while. */
async function crash(walk: Walk): Promise<void> {
  const { world, random, dead } = walk;
  const name = pickName(walk);
  if (dead.has(name)) return;
  const { life } = world.links(name);
  const write = randomInteger(random, 1, 30);
  const moment = randomPick(random, ["before", "after"] as const);
  life.dieAt({ write, moment });
  if (random.next() < 0.7) await rollKnob(walk, world.names);
  for (let count = 0; count < 12 && !life.isDead; count += 1) await advance(walk, 5_000);
  await stopOperator(walk, name, life.isDead ? `${moment} write ${write}` : "at rest");
  if (random.next() < 0.6) {
    await advance(walk, randomPick(random, [0, 1_000, 20_000]));
    await revive(walk, name);
  }
}

async function stopOperator(walk: Walk, name: string, when: string): Promise<void> {
  if (walk.dead.has(name)) return;
  note(walk, `${name} dies ${when}`);
  walk.dead.add(name);
  await walk.world.crashOperator(name);
}

async function revive(walk: Walk, name: string): Promise<void> {
  const { world, dead, cut } = walk;
  note(walk, `${name} is well`);
  if (dead.delete(name)) world.startOperator(name);
  if (cut.delete(name)) restoreCluster(world.at(name).world, world.links(name));
  world.links(name).heal();
}

async function trouble(walk: Walk): Promise<void> {
  const { world, random, cut, commitFaults } = walk;
  const name = pickName(walk);
  const links = world.links(name);
  const delayMs = randomPick(random, [500, 2_000, 8_000]);
  const chance = randomInteger(random, 1, 4) / 10;
  const makers: Record<string, () => void> = {
    "the API server is cut off": () => links.kubernetes.cut(),
    "the database is cut off": () => links.database.cut(),
    [`the API server is slow by ${delayMs} ms`]: () => void (links.kubernetes.delayMs = delayMs),
    [`the database is slow by ${delayMs} ms`]: () => void (links.database.delayMs = delayMs),
    [`caches are late by ${delayMs} ms`]: () => void (links.lag.lagMs = delayMs),
    [`the road is bad: ${chance}`]: () => void (links.roadFailureChance = chance),
    [`answers come late: ${chance}`]: () => void (links.slowAnswerChance = chance),
    [`commits go wrong: ${chance}`]: () => void (commitFaults.chance = chance),
    "the clock is set an hour forward": () => world.stepClock(name, hourMs),
    "the cluster is cut off": () => {
      cut.add(name);
      cutCluster(world.at(name).world, links);
    },
  };
  const what = randomPick(random, Object.keys(makers));
  note(walk, `${name}: ${what}`);
  makers[what]?.();
}

async function findPeace(walk: Walk): Promise<void> {
  const { world, commitFaults } = walk;
  note(walk, "peace");
  commitFaults.chance = 0;
  for (const name of world.names) await revive(walk, name);
  if (walk.isMixed) await switchMode(walk, walk.mode);
  await world.changeAll({ version: walk.version });
  await world.untilAllReconciled(6 * hourMs);
  await world.untilNoEntries(2 * hourMs);
  await advance(walk, 10 * minuteMs);
  const late = await world.late();
  if (late !== undefined) throw new Error(`${late} does not stay at rest`);
  const marks = world.worlds.map(({ requests }) => requests.length);
  await advance(walk, 10 * minuteMs);
  for (const [index, one] of world.worlds.entries()) {
    const writes = one.writesSince(marks[index] ?? 0);
    if (writes.length > 0) throw new Error(`writes at rest: ${writes.join(", ")}`);
  }
  world.assertDataSafe();
}
