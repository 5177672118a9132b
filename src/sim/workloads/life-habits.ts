// Settings that few owners use, with which a life begins. Each draws from a generator of its own, so that one that is new
// changes nothing about the others. Rules: spec/world.md [W144].
import type { ClusterSpec } from "../../api/cluster.ts";
import { mergePatch } from "../../emulator/merge-patch.ts";
import { keyedRandom } from "../../env/keyed-random.ts";
import { randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { LifeMember, LifeShape } from "./life-shape.ts";

/** Of each setting: there are some twenty of them, and most lives should have one. */
const habitChance = 0.05;

type Habit = (random: Random, shape: LifeShape) => object;

/** A merge patch of the spec each, for all members of a database. */
export const habits: Readonly<Record<string, Habit>> = {
  "few replacements": (random) => ({
    automationOptions: { maxConcurrentReplacements: randomPick(random, [1, 2]) },
  }),
  "other removals": (random) => ({
    automationOptions: { removalMode: randomPick(random, ["All", "ProcessGroup"]) },
  }),
  "management keys": () => ({ automationOptions: { databaseInteractionMode: "managementapi" } }),
  "global or local mode": (random, { members }) => ({
    automationOptions: { synchronizationMode: random.next() < 0.8 ? "global" : "local" },
    lockOptions: { disableLocks: false },
    // It names the instance.
    ...(members.length === 1 ? { processGroupIDPrefix: "alone" } : {}),
  }),
  "a cached status": () => ({ automationOptions: { cacheDatabaseStatusForReconciliation: true } }),
  "exclusions that do not block": () => ({ automationOptions: { useNonBlockingExcludes: true } }),
  "impatience with processes": (random) => ({
    automationOptions: { ignoreMissingProcessesSeconds: randomPick(random, [0, 300]) },
  }),
  "impatience with pods": (random) => ({
    automationOptions: {
      ignorePendingPodsDuration: randomPick(random, [0, 60_000_000_000]),
      ignoreTerminatingPodsSeconds: randomPick(random, [0, 60]),
      failedPodDurationSeconds: randomPick(random, [30, 600]),
    },
  }),
  "a short maintenance": (random) => ({
    automationOptions: {
      maintenanceModeOptions: {
        UseMaintenanceModeChecker: true,
        maintenanceModeTimeSeconds: randomPick(random, [5, 60]),
      },
    },
  }),
  "new pods for other resources": () => ({
    automationOptions: { podResourcesChange: "Recreate" },
  }),
  "replacements for more resources": () => ({ replaceInstancesWhenResourcesChange: true }),
  "new volumes for another size": () => ({ automationOptions: { volumeSizeChange: "Replace" } }),
  "replacements by fault domain": () => ({
    automationOptions: { replacements: { faultDomainBasedReplacements: true } },
  }),
  "tainted nodes are bad": () => ({
    automationOptions: {
      replacements: {
        taintReplacementOptions: [{ key: "*", durationInSeconds: 60 }],
        taintReplacementTimeSeconds: 60,
      },
    },
  }),
  "other classes": (random) => ({
    processCounts: randomPick(random, [
      { coordinator: 3 },
      { cluster_controller: 1 },
      { commit_proxy: 2, grv_proxy: 1 },
      { transaction: 4 },
    ]),
  }),
  "one zone at a time": () => ({ maxZonesWithUnavailablePods: 1 }),
  "no listen address": () => ({ useExplicitListenAddress: false }),
  "a network policy": () => ({
    networkPolicy: {
      enabled: true,
      clients: [{ podSelector: {} }],
      peers: [{ podSelector: {} }],
      despite: ["ConnectedClients"],
    },
  }),
};

/** One of them, to be wished for in the middle of a life. */
export function someHabit(random: Random, shape: LifeShape): object {
  const habit = habits[randomPick(random, Object.keys(habits))];
  return habit?.(random, shape) ?? {};
}

export function withHabits(shape: LifeShape, seed: number): LifeShape {
  const patches = Object.entries(habits).flatMap(([name, habit]) => {
    const random = keyedRandom(seed, `habit ${name}`);
    return random.next() < habitChance ? [habit(random, shape)] : [];
  });
  const withAll = (member: LifeMember): LifeMember => ({
    ...member,
    spec: patches.reduce<unknown>(mergePatch, member.spec) as ClusterSpec,
  });
  const [first, ...others] = shape.members;
  return { ...shape, members: [withAll(first), ...others.map(withAll)] };
}
