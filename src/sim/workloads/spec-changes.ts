// Wishes of a cluster's owner, drawn at random: each is a change of the spec that may arrive at any moment, also while an
// earlier one is still being carried out. Rules: spec/world.md [W66].
import type { ClusterSpec } from "../../api/cluster.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { LifeShape } from "./life-shape.ts";
import { podTemplateWith } from "./life-shape.ts";

export interface WishContext {
  random: Random;
  spec: ClusterSpec;
  shape: LifeShape;
  /** Ids of the process groups that are not on their way out. */
  processGroupIds: readonly string[];
}

type Wish = (context: WishContext) => object;

const versions = ["7.1.57", "7.3.63", "7.3.69", "7.4.6"];

const wishes = {
  "more or fewer processes": ({ random, spec }) => {
    const processClass = randomPick(random, ["storage", "log", "stateless"] as const);
    const least = spec.databaseConfiguration?.redundancy_mode === "triple" ? 5 : 3;
    const most = least + 3;
    return { processCounts: { [processClass]: randomInteger(random, least, most) } };
  },
  "another knob": ({ random }) => ({
    processes: {
      general: { customParameters: [`knob_max_trace_lines=${randomInteger(random, 1, 9)}`] },
    },
  }),
  "another pod template": ({ random }) => ({
    processes: {
      general: { podTemplate: podTemplateWith(`value-${randomInteger(random, 1, 9)}`) },
    },
  }),
  "another label": ({ random }) => ({
    labels: { resourceLabels: { team: `team-${randomInteger(random, 1, 9)}` } },
  }),
  "the other image type": ({ spec }) => ({
    imageType: spec.imageType === "split" ? "unified" : "split",
  }),
  "another storage engine": ({ random, spec }) => {
    const isNew = !spec.version.startsWith("7.1.");
    return {
      databaseConfiguration: {
        storage_engine: isNew ? randomPick(random, ["ssd-2", "ssd-redwood-1"]) : "ssd-2",
        storage_migration_type: "gradual",
        perpetual_storage_wiggle: 1,
      },
    };
  },
  "another redundancy": ({ spec }) => {
    const isTriple = spec.databaseConfiguration?.redundancy_mode === "triple";
    return {
      databaseConfiguration: { redundancy_mode: isTriple ? "double" : "triple" },
      processCounts: { storage: 6, log: 6 },
    };
  },
  "another prefix": ({ random }) => ({
    processGroupIDPrefix: randomPick(random, ["west", "east", "north"]),
  }),
  "other volumes": ({ random }) => ({
    processes: {
      general: {
        volumeClaimTemplate: {
          spec: { resources: { requests: { storage: `${randomInteger(random, 128, 131)}G` } } },
        },
      },
    },
  }),
  "TLS on or off": ({ spec }) => ({
    mainContainer: { enableTls: spec.mainContainer?.enableTls !== true },
  }),
  "names or addresses": ({ spec, shape }) =>
    shape.isCalm && spec.routing?.publicIPSource !== "service"
      ? { routing: { useDNSInClusterFile: spec.routing?.useDNSInClusterFile === false } }
      : {},
  "a newer version": ({ random, spec }) => {
    const newer = versions.slice(versions.indexOf(spec.version) + 1);
    return newer.length === 0 ? {} : { version: randomPick(random, newer) };
  },
  "two servers per pod": ({ random }) => ({ storageServersPerPod: randomInteger(random, 1, 2) }),
  "remove by hand": ({ random, processGroupIds }) =>
    processGroupIds.length === 0
      ? {}
      : { processGroupsToRemove: [randomPick(random, processGroupIds)] },
  "other roles": ({ random }) => ({
    databaseConfiguration: { resolvers: randomInteger(random, 1, 2), logs: 3 },
  }),
} as const satisfies Record<string, Wish>;

export type WishName = keyof typeof wishes;
export const wishNames = Object.keys(wishes) as WishName[];

/** A merge patch of the spec; empty when the wish makes no sense here. */
export function makeWish(name: WishName, context: WishContext): object {
  const wish: Wish = wishes[name];
  return wish(context);
}
