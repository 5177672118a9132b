// Wishes of a cluster's owner, drawn at random: each is a change of the spec that may arrive at any moment, also while an
// earlier one is still being carried out. Rules: spec/world.md [W66].
import type { ClusterSpec } from "../../api/cluster.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import { mergePatch } from "../../emulator/merge-patch.ts";
import { someHabit } from "./life-habits.ts";
import type { LifeShape } from "./life-shape.ts";
import { packing, podTemplateWith } from "./life-shape.ts";

export interface WishContext {
  random: Random;
  /** The resource whose owner wishes. */
  name: string;
  spec: ClusterSpec;
  shape: LifeShape;
  /** Ids of the process groups that are not on their way out. */
  processGroupIds: readonly string[];
}

type Wish = (context: WishContext) => object;

/** In the order of their age. */
export const knownVersions = ["7.1.57", "7.3.63", "7.3.69", "7.4.6"];

const wishes = {
  "more or fewer processes": ({ random, spec, shape }) => {
    const { storage = 0 } = spec.processCounts ?? {};
    const classes = storage < 0 ? (["log"] as const) : (["storage", "log", "stateless"] as const);
    const least =
      shape.kind === "spread halls"
        ? 6
        : spec.databaseConfiguration?.redundancy_mode === "triple"
          ? 5
          : 3;
    const count = randomInteger(random, least, least + 3);
    return { processCounts: { [randomPick(random, classes)]: count } };
  },
  "another knob": ({ random }) => ({
    processes: {
      general: { customParameters: [`knob_max_trace_lines=${randomInteger(random, 1, 9)}`] },
    },
  }),
  "another pod template": ({ random, spec }) => otherPods(random, spec),
  "another label": ({ random }) => ({
    labels: { resourceLabels: { team: `team-${randomInteger(random, 1, 9)}` } },
  }),
  "the other image type": ({ spec, shape }) =>
    shape.kind === "spread halls"
      ? {}
      : { imageType: spec.imageType === "split" ? "unified" : "split" },
  "packing on or off": ({ random, spec, shape }) => {
    if (shape.kind !== "one resource") return {};
    const isPacked = spec.distributionConfig?.enabled === true;
    return { distributionConfig: isPacked ? { enabled: false } : packing(random) };
  },
  "another storage engine": ({ random, spec }) => {
    // With one storage server nobody can take its data.
    if (isSingle(spec)) return {};
    const isNew = !spec.version.startsWith("7.1.");
    const isReplaced = random.next() < 0.4;
    return {
      databaseConfiguration: {
        storage_engine: isNew ? randomPick(random, ["ssd-2", "ssd-redwood-1"]) : "ssd-2",
        storage_migration_type: "gradual",
        perpetual_storage_wiggle: isReplaced ? randomInteger(random, 0, 1) : 1,
      },
      automationOptions: { storageEngineChange: isReplaced ? "Replace" : "Database" },
    };
  },
  "the other region": ({ spec, shape }) => {
    const { regions = [] } = spec.databaseConfiguration ?? {};
    if (shape.kind !== "two regions" || regions.length !== 2) return {};
    return { databaseConfiguration: { regions: swappedRegions(regions) } };
  },
  "another redundancy": ({ random, spec, shape }) => {
    if (shape.kind !== "one resource" || isSingle(spec)) return {};
    const isTriple = spec.databaseConfiguration?.redundancy_mode === "triple";
    return {
      databaseConfiguration: { redundancy_mode: isTriple ? "double" : "triple" },
      processCounts: { storage: 6, log: 6 },
      // With other pods in the same breath: what may be down is less from one command on.
      ...(random.next() < 0.5 ? otherPods(random, spec) : {}),
    };
  },
  "another prefix": ({ random, name, shape }) => {
    const prefix = randomPick(random, ["west", "east", "north"]);
    return { processGroupIDPrefix: shape.members.length === 1 ? prefix : `${prefix}-${name}` };
  },
  "other volumes": ({ random, spec }) => {
    const template = spec.processes?.["general"]?.volumeClaimTemplate?.spec;
    const before = Number.parseInt(
      String(template?.resources?.requests?.["storage"] ?? "128G"),
      10,
    );
    const size = randomInteger(random, 128, 131);
    const requests = { storage: `${size}G` };
    return {
      processes: { general: { volumeClaimTemplate: { spec: { resources: { requests } } } } },
      // Only new volumes can be smaller.
      ...(size < before ? { automationOptions: { volumeSizeChange: "Replace" } } : {}),
    };
  },
  "other resources": ({ random, spec }) => {
    const template = spec.processes?.["general"]?.podTemplate?.spec;
    const cpu = `${randomInteger(random, 40, 90)}m`;
    const requests = { cpu, memory: `${randomInteger(random, 64, 96)}Mi` };
    const containers = template?.containers?.map((container) =>
      container.name === "foundationdb" ? { ...container, resources: { requests } } : container,
    );
    if (containers === undefined) return {};
    return { processes: { general: { podTemplate: { spec: { containers } } } } };
  },
  "TLS on or off": ({ spec }) => ({
    mainContainer: { enableTls: spec.mainContainer?.enableTls !== true },
  }),
  "names or addresses": ({ spec, shape }) =>
    shape.isCalm && spec.routing?.publicIPSource !== "service"
      ? { routing: { useDNSInClusterFile: spec.routing?.useDNSInClusterFile === false } }
      : {},
  "a newer version": ({ random, spec }) => {
    const newer = knownVersions.slice(knownVersions.indexOf(spec.version) + 1);
    return newer.length === 0 ? {} : { version: randomPick(random, newer) };
  },
  "the version before": ({ spec }) => {
    const older = knownVersions[knownVersions.indexOf(spec.version) - 1];
    return older === undefined ? {} : { version: older };
  },
  "two servers per pod": ({ random }) => ({
    [randomPick(random, ["storageServersPerPod", "logServersPerPod"])]: randomInteger(random, 1, 2),
  }),
  "remove by hand": ({ random, processGroupIds }) =>
    processGroupIds.length === 0
      ? {}
      : { processGroupsToRemove: [randomPick(random, processGroupIds)] },
  "remove without exclusion": ({ random, spec, processGroupIds }) =>
    processGroupIds.length === 0 || isSingle(spec)
      ? {}
      : { processGroupsToRemoveWithoutExclusion: [randomPick(random, processGroupIds)] },
  "other roles": ({ random }) => ({
    databaseConfiguration: { resolvers: randomInteger(random, 1, 2), logs: 3 },
  }),
  "other coordinators": ({ random }) => {
    const [first, second] = randomPick(random, [
      ["storage", "log"],
      ["log", "storage"],
    ] as const);
    return {
      coordinatorSelection: [
        { processClass: first, priority: 10 },
        { processClass: second, priority: 0 },
      ],
    };
  },
  "other habits": ({ random, spec, shape }) =>
    mergePatch(usualHabits(random, spec), someHabit(random, shape)) as object,
} as const satisfies Record<string, Wish>;

function usualHabits(random: Random, spec: ClusterSpec): object {
  return {
    automationOptions: {
      useLocalitiesForExclusion: random.next() < 0.7,
      maintenanceModeOptions: { UseMaintenanceModeChecker: random.next() < 0.5 },
      deletionMode: randomPick(random, ["Zone", "All", "ProcessGroup"]),
      podUpdateStrategy: isSingle(spec)
        ? "Replace"
        : randomPick(random, ["ReplaceTransactionSystem", "Delete", "Replace"]),
      volumeQuarantine: randomPick(random, ["0", "2m", "24h"]),
    },
  };
}

export type WishName = keyof typeof wishes;
export const wishNames = Object.keys(wishes) as WishName[];

/** Of a database that several resources look after, all of them have to wish the same. */
const wishesOfAll: ReadonlySet<WishName> = new Set<WishName>([
  "the other region",
  "another storage engine",
  "TLS on or off",
  "names or addresses",
  "a newer version",
  "the version before",
  "other roles",
  "other coordinators",
]);

export function isWishOfAll(name: WishName): boolean {
  return wishesOfAll.has(name);
}

function isSingle(spec: ClusterSpec): boolean {
  return spec.databaseConfiguration?.redundancy_mode === "single";
}

type Regions = NonNullable<NonNullable<ClusterSpec["databaseConfiguration"]>["regions"]>;

/** As `kubectl fdb failover` writes it: the main datacenters change places, their satellites stay. */
function swappedRegions(regions: Regions): Regions {
  const priorities = regions.map(({ datacenters = [] }) => datacenters.find(isMain)?.priority ?? 0);
  return regions.map((region, index) => ({
    ...region,
    datacenters: (region.datacenters ?? []).map((center) =>
      isMain(center) ? { ...center, priority: priorities[1 - index] ?? 0 } : center,
    ),
  }));
}

function isMain({ satellite }: { satellite?: number | undefined }): boolean {
  return satellite !== 1;
}

/** Pods stay where they are. */
function otherPods(random: Random, spec: ClusterSpec): object {
  const selector = spec.processes?.["general"]?.podTemplate?.spec?.nodeSelector ?? {};
  const value = `value-${randomInteger(random, 1, 9)}`;
  const podTemplate = podTemplateWith(value, selector["topology.kubernetes.io/zone"]);
  return { processes: { general: { podTemplate } } };
}

/** What nobody can mean: to be refused, and to harm nothing when it is stored all the same. */
export const absurdSpecs: readonly object[] = [
  { processCounts: { storage: 1_000_000 } },
  { processCounts: { stateless: 2_147_483_647 } },
  { processCounts: { unset: 2_147_483_647 } },
  { storageServersPerPod: 2_147_483_647 },
  { logServersPerPod: -1 },
  { databaseConfiguration: { logs: -9 } },
  { databaseConfiguration: { usable_regions: 7 } },
  { version: "9.9" },
  { processes: { general: { customParameters: ["knob_ü=1"] } } },
  { labels: { resourceLabels: { "not a key!": "no value, either" } } },
];

/** The newest of these versions. */
export function newestVersion(all: readonly string[]): string {
  return knownVersions.findLast((version) => all.includes(version)) ?? all[0] ?? "";
}

/** A merge patch that takes another one back. */
export function takenBack(change: object, before: object): object {
  return Object.fromEntries(
    Object.entries(change).map(([key, value]) => {
      const old = (before as Record<string, unknown>)[key];
      const isDeep = isPlain(value) && isPlain(old);
      return [key, isDeep ? takenBack(value, old) : (old ?? null)];
    }),
  );
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A merge patch of the spec; empty when the wish makes no sense here. */
export function makeWish(name: WishName, context: WishContext): object {
  const wish: Wish = wishes[name];
  return wish(context);
}
