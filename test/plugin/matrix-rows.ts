// The rows of the matrix: a command with what it says when it works, and the ways in which it refuses.
import { strict as assert } from "node:assert";
import type { TestWorld } from "../world/world-harness.ts";

export interface Row {
  /** The first rule that it is about. */
  readonly rule: string;
  readonly args: readonly string[];
  readonly works: RegExp;
  /** Of a run that works. */
  readonly code?: number;
  readonly isWrite?: boolean;
  readonly isRead?: boolean;
  readonly refused: readonly (readonly [args: readonly string[], reason: RegExp, code?: number])[];
  readonly check?: (world: TestWorld, names: Readonly<Record<string, string>>) => Promise<void>;
}

const idOf = (pod = ""): string => pod.replace(/^sample-/, "");

export const commandRows: readonly Row[] = [
  {
    rule: "PL45",
    args: ["get", "configuration", "sample"],
    works: /^double ssd-2 usable_regions=1 logs=\d/,
    isRead: true,
    refused: [
      [["get", "configuration"], /missing required argument 'cluster'/],
      [["get", "configuration", "sample", "--update"], /--update writes what --fail-over changes/],
      [["get", "configuration", "a", "b", "--fail-over", "--update"], /one cluster at a time/],
      [["get", "configuration", "sample", "--fail-over"], /sample has no two regions to swap/, 1],
    ],
  },
  {
    rule: "PL40",
    args: ["remove", "process-groups", "-c", "sample", "STORAGE"],
    works:
      /^default\/sample: removes storage-\d+ with exclusion\nAsked the operator to remove 1 process group\.\n$/,
    isWrite: true,
    refused: [
      [["remove", "process-groups"], /say which: names of pods/],
      [["remove", "process-groups", "-c", "sample", "nobody-1"], /no process group is meant/, 1],
      [
        ["remove", "process-groups", "nobody-1"],
        /there is no pod nobody-1 in namespace default/,
        1,
      ],
      [["remove", "process-groups", "--process-class", "log"], /needs a cluster: add -c/],
      [
        ["remove", "process-groups", "-c", "sample", "--process-condition", "Sad"],
        /no condition Sad/,
      ],
      [["remove", "process-groups", "-c", "sample", "--remove-all-failed"], /no process group/, 1],
      [
        ["remove", "process-groups", "-c", "sample", "STORAGE", "--yes", "--dry-run"],
        /there is nothing to say --yes to/,
      ],
      [
        ["remove", "process-groups", "-c", "sample", "STORAGE", "-e=false", "--yes"],
        /give --confirm sample to do it without a question/,
        1,
      ],
      [
        ["remove", "process-groups", "-c", "sample", "STORAGE", "-e=false", "--confirm", "other"],
        /--confirm names other, but the cluster is sample; nothing was changed/,
        1,
      ],
    ],
    check: async (world, { STORAGE }) => {
      const { spec } = await world.cluster();
      assert.deepEqual(spec.processGroupsToRemove, [idOf(STORAGE)]);
    },
  },
  {
    rule: "PL44",
    args: ["cordon", "-c", "sample", "NODE"],
    works:
      /^default\/sample: removes .*with exclusion\n(default.*\n)?node-\d: \d process groups\nAsked for the removal of \d process groups from 1 nodes\.\n$|on its way already/,
    isWrite: true,
    refused: [
      [["cordon"], /say which nodes/],
      [["cordon", "node-1", "--node-selector", "a=b"], /not both/],
      [["cordon", "--node-selector", "a"], /It must be labels such as rack=7/],
      [["cordon", "--node-selector", "rack=none"], /no node has the labels rack=none/, 1],
    ],
  },
  {
    rule: "PL50",
    args: ["buggify", "no-schedule", "-c", "sample", "LOG"],
    works: /^default\/sample: spec\.buggify is changed\n$/,
    isWrite: true,
    refused: [
      [["buggify", "no-schedule", "--clean"], /--clean needs a cluster/],
      [["buggify", "no-schedule", "-c", "sample", "--clean", "--clear"], /give one of them/],
      [["buggify", "no-schedule", "-c", "sample", "--clean", "--yes"], /is so already/, 1],
    ],
    check: async (world, { LOG }) => {
      assert.deepEqual((await world.cluster()).spec.buggify?.noSchedule, [idOf(LOG)]);
    },
  },
  {
    rule: "PL51",
    args: ["buggify", "crash-loop", "-c", "sample", "STATELESS"],
    works: /^default\/sample: spec\.buggify is changed\n$/,
    isWrite: true,
    refused: [[["buggify", "crash-loop", "-c", "sample"], /say which/]],
    check: async (world, { STATELESS }) => {
      assert.deepEqual((await world.cluster()).spec.buggify?.crashLoopContainers, [
        { containerName: "foundationdb", targets: [idOf(STATELESS)] },
      ]);
    },
  },
  {
    rule: "PL52",
    args: ["buggify", "empty-monitor-conf", "-c", "sample"],
    works: /^default\/sample: spec\.buggify is changed\n$/,
    isWrite: true,
    refused: [
      [
        ["buggify", "empty-monitor-conf"],
        /required option '-c, --fdb-cluster <name>' not specified/,
      ],
      [
        ["buggify", "empty-monitor-conf", "-c", "sample", "--set-value=false", "--yes"],
        /so already/,
        1,
      ],
    ],
    check: async (world) => {
      assert.equal((await world.cluster()).spec.buggify?.emptyMonitorConf, true);
    },
  },
];
