// Random clusters and random changes of them, by seed: for whoever wants more than the list of cases.
import type { ClusterSpec, FoundationDBCluster } from "../../src/api/cluster.ts";
import { randomInteger, randomPick, seededRandom } from "../../src/env/random.ts";
import type { Random } from "../../src/env/random.ts";
import type { Change } from "../../src/preview/change.ts";
import { frugalProcesses } from "../world/world-harness.ts";
import type { PreviewCase } from "./against-world.ts";

export function randomCase(seed: number): PreviewCase {
  const random = seededRandom(seed);
  const spec = randomSpec(random);
  const { databaseConfiguration: { redundancy_mode: mode } = {}, processCounts } = spec;
  const [text, change] = randomChange(random);
  const counts = `${processCounts?.storage}/${processCounts?.log}/${processCounts?.stateless}`;
  const title = `random ${seed}: ${mode}, ${spec.imageType}, ${counts}: ${text}`;
  return { title, spec, options: { nodes: 9, seed }, change };
}

function randomSpec(random: Random): Partial<ClusterSpec> {
  const mode = randomPick(random, ["single", "double", "double", "triple"] as const);
  const least = { single: 1, double: 3, triple: 5 }[mode];
  const count = (): number => randomInteger(random, least, least + 3);
  return {
    databaseConfiguration: {
      redundancy_mode: mode,
      storage_engine: randomPick(random, ["ssd-2", "ssd-rocksdb-v1"] as const),
    },
    imageType: randomPick(random, ["unified", "split"] as const),
    processCounts: { storage: count(), log: count(), stateless: count() },
    routing: { useDNSInClusterFile: random.next() < 0.5 },
    minimumUptimeSecondsForBounce: 30,
    automationOptions: {
      waitBetweenRemovalsSeconds: 0,
      replacements: { failureDetectionTimeSeconds: 300, taintReplacementTimeSeconds: 300 },
    },
  };
}

type MakeChange = (cluster: FoundationDBCluster) => Change;

function randomChange(random: Random): [string, MakeChange] {
  const processClass = randomPick(random, ["storage", "log", "stateless"] as const);
  const number = randomInteger(random, 1, 9);
  const place = random.next();
  const apply =
    (edit: (cluster: FoundationDBCluster) => Partial<ClusterSpec>): MakeChange =>
    (cluster) => ({ type: "apply", spec: { ...cluster.spec, ...edit(cluster) } });
  const counted =
    (difference: number): ((cluster: FoundationDBCluster) => Partial<ClusterSpec>) =>
    ({ spec: { processCounts } }) => ({
      processCounts: {
        ...processCounts,
        [processClass]: (processCounts?.[processClass] ?? 3) + difference,
      },
    });
  const all: [string, MakeChange][] = [
    [`a ${processClass} process group more`, apply(counted(1))],
    [`a ${processClass} process group less`, apply(counted(-1))],
    [
      `a knob for ${processClass}`,
      apply(() => ({
        processes: {
          ...frugalProcesses,
          [processClass]: { customParameters: [`knob_max_trace_lines=${number}00`] },
        },
      })),
    ],
    [
      `a ${processClass} process group replaced`,
      apply(({ status }) => {
        const groups = (status?.processGroups ?? []).filter(
          (group) => group.processClass === processClass,
        );
        const group = groups[Math.floor(place * groups.length)];
        return { processGroupsToRemove: [group?.processGroupID ?? ""] };
      }),
    ],
    ["a patch version", apply(() => ({ version: "7.3.79" }))],
    [`node-${number} is lost`, () => ({ type: "loseNode", node: `node-${number}` })],
    [`node-${number} is drained`, () => ({ type: "drain", node: `node-${number}` })],
  ];
  return randomPick(random, all);
}
