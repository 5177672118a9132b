// A world of plain objects in global mode: its instance has the prefix dc1, and a test writes what other instances have
// in the coordination sets.
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { StoredEntry } from "../../src/fdb/coordination-sets.ts";
import { coordinationSets, storedSets } from "../../src/fdb/keys.ts";
import type { CoordinationSet, StoredSet } from "../../src/fdb/keys.ts";
import type { StatusProcess } from "../../src/model/database-status.ts";
import { strict as assert } from "node:assert";
import type { Action } from "../../src/plan/action.ts";
import type { Plan } from "../../src/plan/chain.ts";
import { nothingSeen, rememberSets } from "../../src/plan/view/shared-sets.ts";
import type { CoordinationSets, SetMemory } from "../../src/plan/view/shared-sets.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { actionsOf, locality, RemovalWorld } from "./removal-world.ts";

export const globalCounts = { storage: 5, log: 4, stateless: 3 };

export class GlobalWorld extends RemovalWorld {
  /** By set: prefix/id with its targets. */
  readonly stored = new Map<StoredSet, Map<string, readonly string[]>>();
  readonly foreignValues = new Map<StoredSet, string[]>();
  /** Processes of other instances. */
  readonly others: StatusProcess[] = [];
  /** Command lines of processes that have not been restarted since. */
  readonly frozen = new Map<string, string>();
  memorySets: SetMemory = nothingSeen;
  /** Whether the sets have been read. */
  isRead = true;

  static global(spec: Partial<ClusterSpec> = {}): GlobalWorld {
    const world = new GlobalWorld({
      processCounts: globalCounts,
      processGroupIDPrefix: "dc1",
      ...spec,
      automationOptions: { synchronizationMode: "global", ...spec.automationOptions },
    });
    world.change = (status) => {
      const { processes } = status.cluster ?? {};
      for (const [index, process] of world.others.entries()) {
        if (processes) processes[`other-${index}`] = process;
      }
      for (const process of Object.values(processes ?? {})) {
        const old = world.frozen.get(process.locality?.["instance_id"] ?? "");
        if (old !== undefined) process.command_line = old;
      }
    };
    const plan = world.settle();
    if (!plan.isReconciled) throw new Error(`not settled: ${JSON.stringify(plan.waits)}`);
    world.later(3600);
    return world;
  }

  override podNameOf(id: string): string {
    return super.podNameOf(id.replace(/^dc1-/, ""));
  }

  sets(): CoordinationSets {
    const contents = storedSets.map((set) => {
      const entries: StoredEntry[] = [...(this.stored.get(set) ?? [])]
        .map(([key, targets]) => ({ ...partsOf(key), targets }))
        .sort((left, right) => (left.processGroupId < right.processGroupId ? -1 : 1));
      const foreign = (this.foreignValues.get(set) ?? []).map((key) => ({
        ...partsOf(key),
        writtenAtSeconds: 1,
      }));
      return [set, { entries, foreign }] as const;
    });
    return Object.fromEntries(contents) as unknown as CoordinationSets;
  }

  override snapshot(overrides: Partial<Snapshot> = {}): Snapshot {
    const base = super.snapshot(overrides);
    if (!this.isRead) return base;
    const sets = this.sets();
    this.memorySets = rememberSets(this.memorySets, sets, this.nowMs);
    const coordination = { sets, observedMs: this.nowMs, memory: this.memorySets };
    return { ...base, knowledge: { ...base.knowledge, coordination } };
  }

  override apply(action: Action): void {
    if (action.type === "updateCoordination") {
      for (const set of coordinationSets) {
        for (const [id, update] of action.updates[set] ?? []) {
          const key = `${action.prefix}/${id}`;
          if (update.action === "add") this.put(set, key, update.targets ?? []);
          else this.stored.get(set)?.delete(key);
        }
      }
      return;
    }
    super.apply(action);
  }

  /** From now on processes run with what they run with, whatever their pods are given. */
  freeze(): void {
    const database = this.database();
    if (database.kind !== "seen") return;
    for (const process of Object.values(database.status.cluster?.processes ?? {})) {
      this.frozen.set(process.locality?.["instance_id"] ?? "", process.command_line ?? "");
    }
  }

  /** A look at the sets, and another one after the time in which they must not change. */
  settleSets(seconds = 30): void {
    this.snapshot();
    this.later(seconds);
  }

  put(set: CoordinationSet, key: string, targets: readonly string[] = []): void {
    const entries = this.stored.get(set) ?? new Map<string, readonly string[]>();
    this.stored.set(set, entries.set(key, targets));
  }

  drop(set: CoordinationSet, key: string): void {
    this.stored.get(set)?.delete(key);
  }

  /** The ids of a set, of all instances or of one. */
  members(set: CoordinationSet, prefix?: string): string[] {
    return [...(this.stored.get(set)?.keys() ?? [])]
      .filter((key) => prefix === undefined || key.startsWith(`${prefix}/`))
      .map((key) => partsOf(key).processGroupId)
      .sort();
  }

  /** A process of another instance that the status shows. */
  addOther(id: string, change: Partial<StatusProcess> = {}): StatusProcess {
    const number = this.others.length + 1;
    const processClass = id.split("-").at(-2) ?? "";
    const process: StatusProcess = {
      address: `10.200.0.${number}:4501`,
      class_type: processClass,
      command_line: `/usr/bin/fdbserver --class=${processClass} --public_address=10.200.0.${number}:4501`,
      version: "7.3.79",
      locality: { instance_id: id, zoneid: `other-zone-${number}` },
      excluded: false,
      uptime_seconds: 1000,
      messages: [],
      roles: [{ role: processClass === "storage" ? "storage" : "log" }],
      ...change,
    };
    this.others.push(process);
    return process;
  }
}

function partsOf(key: string): { processGroupIdPrefix: string; processGroupId: string } {
  const [processGroupIdPrefix = "", processGroupId = ""] = key.split("/");
  return { processGroupIdPrefix, processGroupId };
}

export const byAddress = { automationOptions: { useLocalitiesForExclusion: false } };

/** Process groups that are to go, with their successors up, told to the others and looked at once. */
export function replaced(world: GlobalWorld, ...ids: string[]): void {
  world.changeSpec({ processGroupsToRemove: ids });
  world.pass();
  world.runPods();
  world.pass();
  world.pass();
}

/** Another instance wants this process group excluded, and can have it so when it is ready. */
export function announce(world: GlobalWorld, id: string, isReady: boolean): void {
  for (const set of ["pendingForRemoval", "pendingForExclusion", "pendingForInclusion"] as const) {
    world.put(set, `dc2/${id}`);
  }
  if (isReady) world.put("readyForExclusion", `dc2/${id}`, [locality(id)]);
}

export function excluded(plan: Plan): readonly string[] {
  const actions = actionsOf(plan, "excludeProcesses");
  assert.ok(actions.length <= 1);
  return actions[0]?.processGroupIds ?? [];
}

/** Excluded, emptied and without objects: all that is left is to take the exclusion back. */
export function gone(world: GlobalWorld, ...what: (string | { address: string })[]): void {
  const ids = what.filter((one) => typeof one === "string");
  const addresses = what.filter((one) => typeof one !== "string");
  world.changeSpec({ processGroupsToRemove: ids });
  world.pass();
  world.runPods();
  for (const id of ids) {
    world.emptied.add(id);
    if (addresses.length === 0) world.exclusions.push({ locality: locality(id) });
  }
  world.exclusions.push(...addresses);
  for (let count = 0; count < 9; count += 1) {
    world.later(61);
    world.pass();
    world.runPods();
  }
}

const knobs = { processes: { general: { customParameters: ["knob_max_trace_lines=12345"] } } };

/** All processes of this instance have to be restarted, and could be. */
export function bouncing(spec: Partial<ClusterSpec> = {}): GlobalWorld {
  const world = GlobalWorld.global(spec);
  world.freeze();
  world.changeSpec(knobs);
  for (let count = 0; count < 4; count += 1) {
    world.pass();
    world.runPods();
  }
  return world;
}

export function killed(plan: Plan): readonly string[] {
  return actionsOf(plan, "killProcesses")[0]?.processGroupIds ?? [];
}
