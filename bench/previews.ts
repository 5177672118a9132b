// What a preview of a large cluster costs: three runs of the operator in a copy of it. Rules: spec/preview.md [PV15].
import type { ClusterSpec } from "../src/api/cluster.ts";
import type { Picture } from "../src/preview/picture.ts";
import { preview } from "../src/preview/preview.ts";
import { pictureOf } from "../test/preview/world-picture.ts";
import { hourMs, minuteMs, TestWorld } from "../test/world/world-harness.ts";
import { mark } from "./aims.ts";
import type { Aim } from "./report.ts";
import { nodesFor, sampleCluster } from "./sample-cluster.ts";
import { renderTable } from "./table.ts";

export const previewGroups = 200;
const seeds = 3;
const aimCpuSeconds = 30;

export interface PreviewCost {
  change: string;
  outcome: string;
  cpuSeconds: number;
}

const changes: readonly [string, (picture: Picture) => Partial<ClusterSpec>][] = [
  [
    "a knob",
    ({ cluster: { spec } }) => ({
      processes: {
        general: {
          ...spec.processes?.["general"],
          customParameters: ["knob_max_trace_lines=1000"],
        },
      },
    }),
  ],
  [
    "ten storage process groups more",
    ({ cluster: { spec } }) => ({
      processCounts: { ...spec.processCounts, storage: (spec.processCounts?.storage ?? 0) + 10 },
    }),
  ],
  ["a patch version", () => ({ version: "7.3.79" })],
];

export async function runPreviews(progress: (text: string) => void): Promise<PreviewCost[]> {
  const costs: PreviewCost[] = [];
  const { spec } = sampleCluster(previewGroups);
  await TestWorld.runWithCluster({ nodes: nodesFor(previewGroups), spec }, async (world) => {
    await world.clock.advance(12 * minuteMs);
    const picture = await pictureOf(world);
    for (const [change, edit] of changes) {
      progress(`preview of ${previewGroups} process groups: ${change}`);
      const before = process.cpuUsage();
      const wanted = { ...picture.cluster.spec, ...edit(picture) };
      const result = await preview({
        ...{ picture, change: { type: "apply", spec: wanted }, changeText: change, seeds },
        ...{ limitMs: 12 * hourMs, bytesPerSecond: 50e6 },
      });
      const { user, system } = process.cpuUsage(before);
      const outcome = "report" in result ? result.report.outcome : "not woken";
      costs.push({ change, outcome, cpuSeconds: (user + system) / 1e6 });
    }
  });
  return costs;
}

function isMet({ outcome, cpuSeconds }: PreviewCost): boolean {
  return outcome === "done" && cpuSeconds <= aimCpuSeconds;
}

export function previewAims(costs: readonly PreviewCost[]): Aim[] {
  return costs.map((cost) => ({
    what: `preview of ${previewGroups} process groups, ${cost.change}, CPU s`,
    ...{ value: Math.round(cost.cpuSeconds * 10) / 10, limit: aimCpuSeconds, isMet: isMet(cost) },
  }));
}

export function previewTable(costs: readonly PreviewCost[]): string {
  return renderTable(
    `preview of ${previewGroups} process groups, ${seeds} seeds`,
    [
      { title: "change", cell: ({ change }) => change, align: "left" },
      { title: "outcome", cell: ({ outcome }) => outcome, align: "left" },
      { title: "CPU s", cell: ({ cpuSeconds }) => cpuSeconds.toFixed(1) },
      { title: "aim", cell: () => String(aimCpuSeconds) },
      { title: "", cell: (cost) => mark(isMet(cost)) },
    ],
    costs,
  );
}
