// One random life of a small world with three instances: knobs, replacements, a change of prefix, commits whose outcome is
// unknown, and crashes before and after every transaction. Rules: spec/coordination.md [CO62].
import { keyedRandom } from "../../src/env/keyed-random.ts";
import { randomInteger } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";
import { crash, stepInstance } from "./instance-steps.ts";
import type { Fault } from "./plain-store.ts";
import { isOver, newGroup, newInstance, newWorld, tickMs, Violation } from "./small-world.ts";
import type { Group, World } from "./small-world.ts";

export interface Life {
  readonly steps: number;
  readonly crashes: number;
  readonly kills: number;
  readonly exclusions: number;
  readonly violation?: string;
}

const names = ["dc1", "dc2", "dc3"];
const ticksMax = 60;

export async function liveOnce(seed: number): Promise<Life> {
  const random = keyedRandom(seed, "coordination");
  const world = worldOf(random);
  const troubles = { crashes: 0 };
  const life = (): Omit<Life, "violation"> => ({
    ...{ steps: world.steps, crashes: troubles.crashes },
    ...{ kills: world.kills, exclusions: world.costlyExclusions },
  });
  try {
    for (let tick = 0; !isOver(world); tick += 1) {
      if (tick > ticksMax) throw new Violation(`it does not come to rest: ${describe(world)}`);
      await liveTick(world, random, tick, troubles);
    }
    judge(world);
    return life();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { ...life(), violation: `seed ${seed}: ${error.message}` };
  }
}

/** Each group has one wish at most: another knob, or to go. */
function worldOf(random: Random): World {
  const groups: Group[] = [];
  for (const name of names) {
    const wanted = random.next() < 0.7 ? 1 : 0;
    for (const id of ["log-1", "log-2", "storage-1"].map((one) => `${name}-${one}`)) {
      const isMarked = random.next() < 0.4;
      groups.push(newGroup(id, name, isMarked ? { isMarked } : { wanted }));
    }
  }
  const fault = (): Fault => {
    const chance = random.next();
    if (chance < 0.05) return "conflict";
    if (chance < 0.1) return "unknown-committed";
    return chance < 0.15 ? "unknown-lost" : undefined;
  };
  return newWorld({ groups, instances: names.map((name) => newInstance(name)), events: [], fault });
}

/** Every instance ends two passes or more, in any order; in between things happen by themselves. */
async function liveTick(
  world: World,
  random: Random,
  tick: number,
  troubles: { crashes: number },
): Promise<void> {
  for (const instance of world.instances) instance.passes = 0;
  if (tick < 10) for (const group of world.groups) happen(world, group, random);
  if (tick === 4 && random.next() < 0.3) rename(world, random);
  for (;;) {
    const behind = world.instances.filter(({ passes }) => passes < 2);
    if (behind.length === 0) break;
    const instance = behind[randomInteger(random, 0, behind.length - 1)];
    if (instance === undefined) break;
    const mayCrash = tick < 20 && random.next() < 0.05;
    const isBefore = random.next() < 0.5;
    if (mayCrash) troubles.crashes += 1;
    if (mayCrash && isBefore) crash(instance);
    await stepInstance(world, instance);
    if (mayCrash && !isBefore) crash(instance);
  }
  world.nowMs += tickMs;
  if (tick >= 10) for (const group of world.groups) settle(group);
}

/** Pods get their configuration, successors come up or fail, and what is excluded is emptied and deleted. */
function happen(_world: World, group: Group, random: Random): void {
  if (random.next() < 0.5) group.synced = group.wanted;
  if (group.isMarked && !group.isExcluded) group.isAllowed = random.next() < 0.7;
  if (group.isExcluded && random.next() < 0.5) group.isGone = true;
}

function settle(group: Group): void {
  group.synced = group.wanted;
  if (group.isMarked) group.isAllowed = true;
  if (group.isExcluded) group.isGone = true;
}

/** Another processGroupIDPrefix in the middle of everything. */
function rename(world: World, random: Random): void {
  const instance = world.instances[randomInteger(random, 0, names.length - 1)];
  if (instance !== undefined) instance.prefix = `${instance.name}-new`;
}

/** In a world without further troubles one kill would do; each crash, and each new readiness, may cost one more. */
function judge(world: World): void {
  const wrong = world.groups.filter((group) => !group.hasLeft && group.running !== group.wanted);
  if (wrong.length > 0)
    throw new Violation(`wrong at the end: ${wrong.map(({ id }) => id).join()}`);
  if (world.contents.size > 0)
    throw new Violation(`left over: ${[...world.contents.keys()].join()}`);
}

function describe(world: World): string {
  const groups = world.groups.filter(
    (group) => !group.hasLeft && (group.isMarked || group.running !== group.wanted),
  );
  return JSON.stringify([groups, [...world.contents.keys()]]);
}
