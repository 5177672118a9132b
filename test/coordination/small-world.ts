// A world of operator instances, their process groups and the keys that they share, and nothing else. Everything that an
// instance decides and every transaction is the real code; the world only says who is next. It can be copied at any
// moment, so that a search can try everything that could happen from there. Rules: spec/coordination.md [CO60]-[CO63].
import { coordinationSets, operatorKeys } from "../../src/fdb/keys.ts";
import type { CoordinationSet } from "../../src/fdb/keys.ts";
import { LockWatch } from "../../src/fdb/lock.ts";
import type { DatabaseStatus, StatusProcess } from "../../src/model/database-status.ts";
import type { DisruptiveAction } from "../../src/plan/action.ts";
import type { Progress } from "../../src/operate/shared-stages.ts";
import { nothingSeen } from "../../src/plan/view/shared-sets.ts";
import type {
  CoordinationKnowledge,
  CoordinationSets,
  SetMemory,
} from "../../src/plan/view/shared-sets.ts";
import { sharedStages } from "../../src/operate/shared-stages.ts";
import type { Stage } from "../../src/operate/shared-stages.ts";
import type { Contents, Fault } from "./plain-store.ts";

export interface Group {
  readonly id: string;
  readonly owner: string;
  /** What its process runs with, what its pod has, and what its resource wants. */
  running: number;
  synced: number;
  wanted: number;
  isMarked: boolean;
  /** Its instance would let it be excluded. */
  isAllowed: boolean;
  isExcluded: boolean;
  /** Its objects and processes are gone. */
  isGone: boolean;
  hasLeft: boolean;
}

type Phase = "status" | "sets" | "migrate" | "tell" | "stage" | "act" | "release";

export interface Instance {
  readonly name: string;
  prefix: string;
  phase: Phase;
  /** Passes that have ended since the last tick. */
  passes: number;
  /** Lost in a crash, like everything below. */
  memory: SetMemory;
  watch: LockWatch;
  known: CoordinationKnowledge | undefined;
  status: DatabaseStatus | undefined;
  /** The process groups as they were when the status was read. */
  statusText: string;
  action: DisruptiveAction | undefined;
  progress: Progress | undefined;
  /** When it took the lock for its act, in steps of the world. */
  lockedAt: number;
}

export interface World {
  contents: Contents;
  groups: Group[];
  instances: Instance[];
  nowMs: number;
  steps: number;
  crashesLeft: number;
  kills: number;
  /** Exclusions that touched the transaction system. */
  costlyExclusions: number;
  /** Step at which an entry of readyForExclusion was taken out, by process group. */
  withdrawnAt: ReadonlyMap<string, number>;
  /** Things that will happen by themselves, each once. */
  events: readonly WorldEvent[];
  /** Of an act of several instances. */
  readonly stages: readonly Stage[];
  /** How long the sets must not have changed before an act. */
  readonly settledMs: number;
  /** Whether something may happen between the look at the status and the one at the sets. */
  readonly isStatusApart: boolean;
  /** Faults of commits; none in a search. */
  readonly fault: () => Fault;
}

export interface WorldEvent {
  readonly name: string;
  readonly isPossible: (world: World) => boolean;
  readonly happen: (world: World) => void;
  /** Not later than at this tick, once it is possible. */
  readonly latestTick: number;
}

export class Violation extends Error {}

/** Sets are settled after two of them. */
export const tickMs = 30_000;
export const keys = operatorKeys();

export function newGroup(id: string, owner: string, change: Partial<Group> = {}): Group {
  return {
    ...{ id, owner, running: 0, synced: 0, wanted: 0 },
    ...{ isMarked: false, isAllowed: false, isExcluded: false, isGone: false, hasLeft: false },
    ...change,
  };
}

export function newInstance(name: string, prefix = name): Instance {
  return {
    ...{ name, prefix, phase: "status", passes: 0, memory: nothingSeen, known: undefined },
    ...{
      watch: new LockWatch(),
      status: undefined,
      statusText: "",
      action: undefined,
      progress: undefined,
      lockedAt: 0,
    },
  };
}

export function newWorld(
  parts: Pick<World, "groups" | "instances" | "events"> & Partial<World>,
): World {
  return {
    ...{ contents: new Map(), nowMs: 1_000_000_000_000, steps: 0, crashesLeft: 0, kills: 0 },
    ...{ costlyExclusions: 0, withdrawnAt: new Map(), isStatusApart: false },
    ...{ stages: sharedStages, settledMs: 2 * tickMs },
    fault: () => undefined,
    ...parts,
  };
}

export function copyOf(world: World): World {
  return {
    ...world,
    groups: world.groups.map((group) => ({ ...group })),
    // A search ends long before a lock could be taken over.
    instances: world.instances.map((instance) => ({ ...instance, watch: new LockWatch() })),
  };
}

/** The status of the database, with a few processes that belong to nobody so that zones are never short. */
export function statusOf(world: World): DatabaseStatus {
  const processes: Record<string, StatusProcess> = {};
  const living = world.groups.filter((group) => !group.isGone);
  const spares = ["spare-log-1", "spare-log-2", "spare-storage-1", "spare-storage-2"];
  for (const [index, id] of [...living.map((group) => group.id), ...spares].entries()) {
    const group = living.find((one) => one.id === id);
    processes[id] = {
      address: `10.0.0.${index + 1}:4501`,
      class_type: id.split("-").at(-2) ?? "",
      command_line: `knob=${group?.running ?? 0}`,
      locality: { instance_id: id, zoneid: id },
      excluded: group?.isExcluded === true,
      roles: [],
    };
  }
  const excluded_servers = world.groups
    .filter((group) => group.isExcluded)
    .map((group) => ({ locality: localityOf(group.id) }));
  return { cluster: { processes, configuration: { redundancy_mode: "single", excluded_servers } } };
}

export function localityOf(id: string): string {
  return `locality_instance_id:${id}`;
}

/** Everything is as wanted, nobody has an entry, and nobody holds the lock. */
export function isOver(world: World): boolean {
  const isSettled = world.groups.every(
    (group) => group.hasLeft || (!group.isMarked && group.running === group.wanted),
  );
  return isSettled && world.contents.size === 0 && world.events.length === 0;
}

/** What distinguishes this state from others; how it came about does not. */
export function stateText(world: World): string {
  const instances = world.instances.map((instance) => [
    ...[instance.prefix, instance.phase, instance.passes],
    // The last look is part of the memory.
    [...instance.memory.unchanged.values()].map(({ text, sinceMs }) => [text, sinceMs]),
    instance.statusText,
    instance.action?.together?.entries.map(({ processGroupId }) => processGroupId),
    [instance.progress?.stage, instance.progress?.lease?.endSeconds],
    instance.progress?.sets && setsText(instance.progress.sets),
    withdrawnSince(world, instance),
  ]);
  return JSON.stringify([
    [...world.contents].sort(([left], [right]) => (left < right ? -1 : 1)),
    groupsText(world),
    instances,
    [world.nowMs, world.crashesLeft, world.kills, world.costlyExclusions],
    world.events.map(({ name }) => name),
  ]);
}

/** All that a status tells, and what the instances know of their own process groups. */
export function groupsText({ groups }: World): string {
  return groups.map((group) => Object.values(group).slice(2).map(Number).join("")).join(" ");
}

function setsText(sets: CoordinationSets): string {
  const idsIn = (set: CoordinationSet): string =>
    sets[set].entries.map(({ processGroupId }) => processGroupId).join();
  return coordinationSets.map(idsIn).join(";");
}

/** Of what was taken out, only whether it was before the lock of an act under way can still matter. */
function withdrawnSince(world: World, { action, lockedAt }: Instance): readonly string[] {
  if (action === undefined) return [];
  return [...world.withdrawnAt].filter(([, step]) => step < lockedAt).map(([id]) => id);
}
