// What a preview of an upgrade may say.
import { pageOf } from "../../src/preview/page.ts";
import type { PreviewReport } from "../../src/preview/report.ts";
import type { PreviewAnswer } from "../../src/web/view-model.ts";

const same = (count: number): { least: number; most: number } => ({ least: count, most: count });

const report: PreviewReport = {
  ...{ format: 1, cluster: { namespace: "default", name: "sample" }, change: "apply the text" },
  ...{
    takenAt: "2026-11-17T06:00:00Z",
    outcome: "done",
    seeds: [1, 2, 3],
    pending: [],
    warnings: [],
  },
  phases: [
    {
      ...{ what: "write the configuration of the processes", count: 1, acts: 1 },
      ...{ fromSeconds: 1, toSeconds: 1 },
    },
    {
      ...{ what: "restart processes with the new version", count: 16, acts: 1 },
      ...{ fromSeconds: 612, toSeconds: 612 },
    },
    {
      ...{ what: "make pods again for process groups that stay", count: 16, acts: 16 },
      ...{ fromSeconds: 640, toSeconds: 1_220 },
    },
  ],
  processGroups: { added: {}, removed: {} },
  ...{ processGroupsLeaving: same(0), podsMadeAgain: same(16), processesRestarted: same(16) },
  ...{ coordinatorChanges: same(0), configurations: [], recoveries: { least: 5, most: 7 } },
  ...{ version: { from: "7.3.63", to: "7.4.5" }, longestPauseSeconds: 6, bytesMoved: same(0) },
  ...{ movementSeconds: same(0), bytesPerSecond: 5e7, otherSeconds: { least: 1_220, most: 1_304 } },
  faultTolerance: {
    before: { data: 1, availability: 1 },
    lowest: { data: 0, availability: 0 },
  },
  extra: { pods: 0, cpuMillis: 0, memoryBytes: 0, volumeBytes: 0 },
  ...{ withoutNode: {}, waits: [] },
  irreversible: [
    "the database goes from 7.3.63 to 7.4.5: clients need a library of the new version, and the way back is a downgrade",
  ],
  differences: [],
  warnings: [],
  unknown: ["what other users of the nodes will ask for meanwhile"],
};

export const samplePreview: PreviewAnswer = { report, text: pageOf(report) };
