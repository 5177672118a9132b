// Tries everything that can happen in a small world: each instance may be the next, or crash, or time goes on, or one of
// the things happens that happen by themselves. States that were seen are not looked at again.
// Rules: spec/coordination.md [CO60], [CO61].
import { crash, stepInstance } from "./instance-steps.ts";
import { copyOf, isOver, newGroup, newInstance, newWorld } from "./small-world.ts";
import { stateText, tickMs, Violation } from "./small-world.ts";
import type { Group, World, WorldEvent } from "./small-world.ts";

export interface Scenario {
  readonly name: string;
  readonly world: () => World;
  /** What must hold when everything is over. */
  readonly judge: (world: World) => void;
  /** Where the search may stop before everything is over. */
  readonly isEnough?: (world: World) => boolean;
}

export interface SearchResult {
  readonly states: number;
  readonly endings: number;
  /** What went wrong, with the way there. */
  readonly violation?: string;
}

/** Every instance does its work twice in half of the time in which sets must not change. */
const passesPerTick = 2;
const ticksMax = 16;

interface Node {
  readonly world: World;
  readonly path: readonly string[];
}

export async function search(
  scenario: Scenario,
  checks: Partial<Pick<World, "stages" | "settledMs">> = {},
): Promise<SearchResult> {
  const first = { ...scenario.world(), ...checks };
  const startMs = first.nowMs;
  const seen = new Set([stateText(first)]);
  const open: Node[] = [{ world: first, path: [] }];
  let endings = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { world, path } = node;
    try {
      if (isOver(world) || scenario.isEnough?.(world) === true) {
        endings += 1;
        scenario.judge(world);
        continue;
      }
      if (world.nowMs > startMs + ticksMax * tickMs)
        throw new Violation("it does not come to rest");
      for (const [name, next] of await successors(world, startMs)) {
        const text = stateText(next);
        if (seen.has(text)) continue;
        seen.add(text);
        open.push({ world: next, path: [...path, name] });
      }
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      return { states: seen.size, endings, violation: `${error.message} [${path.join(", ")}]` };
    }
  }
  return { states: seen.size, endings };
}

async function successors(world: World, startMs: number): Promise<[string, World][]> {
  const found: [string, World][] = [];
  for (const [index, instance] of world.instances.entries()) {
    if (instance.passes < passesPerTick) {
      const next = copyOf(world);
      const own = next.instances[index];
      if (own === undefined) continue;
      await stepInstance(next, own);
      found.push([`${instance.name} ${instance.phase}`, next]);
    }
    // A program that has just begun loses nothing by beginning anew but what it remembers.
    const hasSomething = instance.phase !== "status" || instance.memory.unchanged.size > 0;
    if (world.crashesLeft > 0 && hasSomething) {
      const next = copyOf(world);
      next.crashesLeft -= 1;
      const own = next.instances[index];
      if (own !== undefined) crash(own);
      found.push([`${instance.name} crashes`, next]);
    }
  }
  for (const event of world.events) {
    if (!event.isPossible(world)) continue;
    const next = copyOf(world);
    next.events = next.events.filter((one) => one !== event);
    event.happen(next);
    found.push([event.name, next]);
  }
  if (mayTick(world, startMs)) {
    const next = copyOf(world);
    next.nowMs += tickMs;
    for (const instance of next.instances) instance.passes = 0;
    found.push(["tick", next]);
  }
  return found;
}

/** Nobody is slower than that, and what happens by itself is not late. */
function mayTick(world: World, startMs: number): boolean {
  const tick = (world.nowMs - startMs) / tickMs;
  const isLate = (event: WorldEvent): boolean =>
    event.isPossible(world) && tick >= event.latestTick;
  return (
    world.instances.every(({ passes }) => passes === passesPerTick) && !world.events.some(isLate)
  );
}

function groupIn(world: World, id: string): Group {
  const group = world.groups.find((one) => one.id === id);
  if (group === undefined) throw new Error(`there is no ${id}`);
  return group;
}

const names = ["dc1", "dc2"] as const;
const idsOf = (name: string): string[] => [`${name}-log-1`, `${name}-storage-1`];

function syncEvent(name: string, wanted: number): WorldEvent {
  const groups = (world: World): Group[] => world.groups.filter(({ owner }) => owner === name);
  return {
    name: `the pods of ${name} have configuration ${wanted}`,
    isPossible: (world) => groups(world).every((group) => group.wanted === wanted),
    happen: (world) => {
      for (const group of groups(world)) group.synced = wanted;
    },
    latestTick: 1,
  };
}

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Violation(what);
}

/** A knob in both resources: one kill for all four processes. */
const restart: Scenario = {
  name: "a knob in both",
  world: () =>
    newWorld({
      groups: names.flatMap((name) => idsOf(name).map((id) => newGroup(id, name, { wanted: 1 }))),
      instances: names.map((name) => newInstance(name)),
      events: names.map((name) => syncEvent(name, 1)),
      crashesLeft: 1,
      isStatusApart: true,
    }),
  judge: (world) => expect(world.kills === 1, `${world.kills} kills for one knob`),
};

/** One resource gets another knob when the first one is in force there: nobody is restarted for nothing. */
const secondKnob: Scenario = {
  name: "a second knob in one",
  world: () => {
    const world = restart.world();
    const again: WorldEvent = {
      name: "another knob in dc1",
      isPossible: (now) => idsOf("dc1").every((id) => groupIn(now, id).running === 1),
      happen: (now) => {
        for (const id of idsOf("dc1")) groupIn(now, id).wanted = 2;
        now.events = [...now.events, syncEvent("dc1", 2)];
      },
      latestTick: 3,
    };
    return { ...world, events: [...world.events, again], isStatusApart: false };
  },
  judge: (world) => expect(world.kills <= 2, `${world.kills} kills for two knobs`),
};

/** All process groups of both go; the readiness of one comes, goes and comes back. */
const replacement: Scenario = {
  name: "all process groups replaced",
  world: () => {
    const groups = names.flatMap((name) =>
      idsOf(name).map((id) => newGroup(id, name, { isMarked: true, isAllowed: name === "dc1" })),
    );
    const allow = (isAllowed: boolean, latestTick: number, before: boolean): WorldEvent => ({
      name: isAllowed ? "dc2 may exclude" : "dc2 may not exclude its log",
      isPossible: (world) =>
        groupIn(world, "dc2-log-1").isAllowed === before && !groupIn(world, "dc2-log-1").isExcluded,
      happen: (world) => {
        for (const id of isAllowed ? idsOf("dc2") : ["dc2-log-1"]) {
          groupIn(world, id).isAllowed = isAllowed;
        }
        if (!isAllowed) world.events = [...world.events, allow(true, 3, false)];
      },
      latestTick,
    });
    const vanish: WorldEvent = {
      name: "excluded process groups are emptied and deleted",
      isPossible: (world) => world.groups.every((group) => group.isExcluded),
      happen: (world) => {
        for (const group of world.groups) group.isGone = true;
      },
      latestTick: 0,
    };
    return newWorld({
      groups,
      instances: names.map((name) => newInstance(name)),
      events: [allow(true, 1, false), vanish],
      crashesLeft: 1,
    });
  },
  judge: (world) => expect(world.costlyExclusions === 1, `${world.costlyExclusions} exclusions`),
};

/** The same, and what was ready is not ready for a while. */
const withdrawal: Scenario = {
  name: "readiness that is taken back",
  world: () => {
    const world = replacement.world();
    for (const id of idsOf("dc2")) groupIn(world, id).isAllowed = true;
    const [allow, vanish] = world.events;
    if (allow === undefined || vanish === undefined) return world;
    const refuse: WorldEvent = {
      name: "dc2 may not exclude its log",
      isPossible: (now) => !groupIn(now, "dc2-log-1").isExcluded,
      happen: (now) => {
        groupIn(now, "dc2-log-1").isAllowed = false;
        now.events = [...now.events, { ...allow, latestTick: 3 }];
      },
      latestTick: Infinity,
    };
    return { ...world, events: [refuse, vanish], crashesLeft: 0 };
  },
  judge: () => {},
  isEnough: (world) => world.groups.every((group) => group.isExcluded),
};

export const scenarios: readonly Scenario[] = [restart, secondKnob, replacement, withdrawal];
