// The rows of the matrix: a command with what it says when it works, and the ways in which it refuses.
import { strict as assert } from "node:assert";
import type { TestWorld } from "../world/world-harness.ts";

export interface Row {
  /** The first rule that it is about. */
  readonly rule: string;
  readonly args: readonly string[];
  /** Without it the command goes on until somebody ends it, and other tests run it. */
  readonly works?: RegExp;
  /** What it says when no operator answers; most commands need none. */
  readonly withoutOperator?: RegExp;
  /** Of a run that works. */
  readonly code?: number;
  readonly isWrite?: boolean;
  readonly isRead?: boolean;
  /** It needs no server. */
  readonly asksNobody?: boolean;
  readonly refused: readonly (readonly [args: readonly string[], reason: RegExp, code?: number])[];
  readonly check?: (world: TestWorld, names: Readonly<Record<string, string>>) => Promise<void>;
}

const idOf = (pod = ""): string => pod.replace(/^sample-/, "");

export const commandRows: readonly Row[] = [
  {
    rule: "[MNT4]",
    args: ["maintenance", "status", "sample"],
    works: /^no fault domain is under maintenance\n$/,
    isRead: true,
    refused: [[["maintenance", "status"], /missing required argument 'cluster'/]],
  },
  {
    rule: "[MNT2]",
    args: ["maintenance", "start", "NODE", "-c", "sample", "--for", "30m"],
    works:
      /^fault domain \S+ of default\/sample is under maintenance for 1800 s\. It ends by itself when storage-\d+.* have restarted\.\n$/,
    isWrite: true,
    refused: [
      [["maintenance", "start", "-c", "sample", "--for", "1h"], /missing required argument/],
      [["maintenance", "start", "NODE", "--for", "1h"], /required option '-c, --fdb-cluster/],
      [["maintenance", "start", "NODE", "-c", "sample"], /required option '--for <duration>'/],
      [
        ["maintenance", "start", "NODE", "-c", "sample", "--for", "5h"],
        /a duration from 60s to 14400s/,
      ],
      [
        ["maintenance", "start", "NODE", "-c", "sample", "--for", "5s"],
        /a duration from 60s to 14400s/,
      ],
      [
        ["maintenance", "start", "nowhere", "-c", "sample", "--for", "1h", "--yes"],
        /no process of the database is on a node, in a zone or in a fault domain nowhere; fault domains: .*; nothing was changed/,
        1,
      ],
      [
        ["maintenance", "start", "NODE", "-c", "split", "--for", "1h", "--yes"],
        /the database cannot lose a fault domain now .*; nothing was changed/,
        1,
      ],
    ],
  },
  {
    rule: "[MNT4]",
    args: ["maintenance", "end", "-c", "sample", "--yes"],
    works: /^fault domain \S+ of default\/sample: the maintenance has ended\n$/,
    refused: [
      [["maintenance", "end"], /required option '-c, --fdb-cluster <name>'/],
      [
        ["maintenance", "end", "-c", "sample", "--yes"],
        /no fault domain is under maintenance; nothing was changed/,
        1,
      ],
    ],
  },
  {
    rule: "[QUA10]",
    args: ["quarantine", "list"],
    works: /^no volume waits in quarantine in namespace default/,
    isRead: true,
    refused: [],
  },
  {
    rule: "[QUA11]",
    args: ["quarantine", "restore", "-c", "sample", "storage-0", "--yes"],
    refused: [
      [["quarantine", "restore", "-c", "sample"], /missing required argument 'names'/],
      [["quarantine", "restore", "storage-1"], /required option '-c, --fdb-cluster <name>'/],
      [
        ["quarantine", "restore", "-c", "sample", "storage-0", "--yes"],
        /no volume storage-0 of sample waits in quarantine/,
        1,
      ],
    ],
  },
  {
    rule: "[FO3]",
    args: ["failover", "sample", "--to", "dc2", "--yes"],
    refused: [
      [["failover", "--to", "dc2"], /missing required argument 'cluster'/],
      [["failover", "sample"], /required option '--to <datacenter>' not specified/],
      [
        ["failover", "sample", "--to", "dc2", "--max-lag", "1h"],
        /It must be a duration from 0s to 20s/,
      ],
      [
        ["failover", "sample", "--to", "dc2", "--yes", "--dry-run"],
        /there is nothing to say --yes to/,
      ],
      [
        ["failover", "sample", "--to", "dc2", "--yes"],
        /sample: the database has no two usable regions \(usable_regions 1, 0 regions\); nothing was changed/,
        1,
      ],
    ],
  },
  {
    rule: "[ADO11]",
    args: ["volumes", "rebind", "sample", "--yes"],
    refused: [
      [["volumes", "rebind"], /missing required argument 'cluster'/],
      [["volumes", "rebind", "sample", "--yes"], /sample has no spec\.adopt/, 1],
    ],
  },
  {
    rule: "[PL45]",
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
    rule: "[PL40]",
    args: ["remove", "process-groups", "-c", "sample", "STORAGE"],
    works:
      /^default\/sample: removes storage-\d+ with exclusion\nAsked the operator to remove 1 process group\.\n$/,
    isWrite: true,
    refused: [
      [["remove", "process-groups"], /say which: names of pods/],
      [["remove", "process-groups", "-c", "sample", "nobody-1"], /nobody-1 is no process group/, 1],
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
    rule: "[PL44]",
    args: ["cordon", "-c", "sample", "NODE"],
    works:
      /^default\/sample: removes .*with exclusion\n(default.*\n)?node-\d: \d process groups\nAsked for the removal of \d process groups from 1 nodes\.\n$|on its way already/,
    isWrite: true,
    refused: [
      [["cordon"], /say which nodes/],
      [["cordon", "node-1", "--node-selector", "a=b"], /not both/],
      [["cordon", "--node-selector", "a"], /It must be labels such as rack=7/],
      [["cordon", "--node-selector", "rack=none"], /no node has the labels rack=none/, 1],
      [["cordon", "no-such-node", "--yes"], /there is no node no-such-node; nothing/, 1],
    ],
  },
  {
    rule: "[PL50]",
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
    rule: "[PL51]",
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
    rule: "[PL52]",
    args: ["buggify", "empty-monitor-conf", "-c", "split"],
    works: /^default\/split: spec\.buggify is changed\n$/,
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
      [
        ["buggify", "empty-monitor-conf", "-c", "sample", "--yes"],
        /sample runs the unified image, on which this has no effect: .*nothing was changed/,
        1,
      ],
    ],
    check: async (world) => {
      assert.equal((await world.cluster({ name: "split" })).spec.buggify?.emptyMonitorConf, true);
    },
  },
  {
    rule: "[PL63]",
    args: ["restart", "-c", "sample", "STORAGE"],
    works: /^sample-storage-\d+: restarts\n$/,
    isWrite: true,
    refused: [
      [["restart"], /say which/],
      [["restart", "--all-processes"], /--all-processes needs a cluster/],
      [["restart", "-c", "sample", "--sleep", "soon", "a"], /It must be a duration/],
    ],
  },
  {
    rule: "[PL64]",
    args: ["exec", "-c", "sample", "--", "echo", "hello"],
    works: /^hello\n$/,
    refused: [
      [["exec"], /required option '-c, --fdb-cluster <name>' not specified/],
      [["exec", "-c", "sample", "--", "false-command"], /ended with exit code 127/, 127],
    ],
  },
  {
    rule: "[PL65]",
    args: ["get", "exclusion-status", "sample"],
    works: /^(region: .*\n)*All exclusions completed!\n$/,
    isRead: true,
    refused: [
      [["get", "exclusion-status"], /missing required argument 'cluster'/],
      [["get", "exclusion-status", "sample", "--interval", "0"], /from 1s to 86400s/],
    ],
  },
  {
    rule: "[PL66]",
    args: ["analyze", "sample", "--analyze-status"],
    works: /^Cluster default\/sample\n✔ The database is available\n/,
    // Its spec was changed meanwhile, and no operator has seen that.
    code: 1,
    isRead: true,
    refused: [
      [["analyze"], /name the clusters, or give --all-clusters/],
      [["analyze", "sample", "--all-clusters"], /name the clusters, or give --all-clusters/],
    ],
  },
  {
    rule: "[PL70]",
    args: ["fix-coordinator-ips", "-c", "sample"],
    works: /^Every coordinator of sample is where the connection string says\.\n$/,
    refused: [[["fix-coordinator-ips"], /required option '-c, --fdb-cluster <name>'/]],
  },
  {
    rule: "[PL72]",
    args: ["update", "connection-string", "-c", "sample", "CONNECTION"],
    works: /^sample has this connection string already\.\n$/,
    refused: [
      [["update", "connection-string", "-c", "sample", "nonsense"], /is not a connection string/],
      [
        ["update", "connection-string", "-c", "sample", "a:b@1.1.1.1:4500,1.1.1.1:4500"],
        /names a coordinator twice/,
      ],
      [
        ["update", "connection-string", "-c", "sample", "a:b@1.2.3.4;x"],
        /holds a character that no address has/,
      ],
      [
        ["update", "connection-string", "-c", "sample", "sample:abc@10.1.0.1:4501", "--yes"],
        /serves \(asked in sample-\S+\): change coordinators through the operator/,
        1,
      ],
    ],
  },
  {
    rule: "[PL77]",
    args: ["recover-coordinators", "sample"],
    works: /^$/,
    code: 1,
    refused: [
      [["recover-coordinators"], /missing required argument 'cluster'/],
      [
        ["recover-coordinators", "sample", "--confirm", "sample", "--accept-loss"],
        /the database of sample serves .*there is nothing to recover/,
        1,
      ],
    ],
  },
  {
    rule: "[PL73]",
    args: ["recover-multi-region-cluster", "sample"],
    works: /^$/,
    code: 1,
    refused: [
      [["recover-multi-region-cluster"], /missing required argument 'cluster'/],
      [
        ["recover-multi-region-cluster", "sample", "--confirm", "sample"],
        /spec\.dataCenter of sample is empty/,
        1,
      ],
    ],
  },
  {
    rule: "[PL80]",
    args: ["deprecation", "sample"],
    works: /^$/,
    isRead: true,
    refused: [[["deprecation", "--only-show-changes=maybe"], /It must be "=true" or "=false"/]],
  },
];
