// Changes and faults whose previews are compared with the world: what the manual calls changeable, and every what-if.
import type { ClusterSpec, FoundationDBCluster } from "../../src/api/cluster.ts";
import type { ExampleName } from "../../src/cli/examples.ts";
import type { Change } from "../../src/preview/change.ts";
import { frugalProcesses, securedProcesses, small, tiny } from "../world/world-harness.ts";
import { threeHalls } from "../world/hall-harness.ts";
import type { PreviewCase } from "./against-world.ts";

type Edit = (spec: ClusterSpec, cluster: FoundationDBCluster) => Partial<ClusterSpec>;

const apply =
  (edit: Edit) =>
  (cluster: FoundationDBCluster): Change => ({
    type: "apply",
    spec: { ...cluster.spec, ...edit(cluster.spec, cluster) },
  });

/** Without the long pauses of a careful configuration. */
const quick: Partial<ClusterSpec> = {
  minimumUptimeSecondsForBounce: 30,
  automationOptions: {
    waitBetweenRemovalsSeconds: 0,
    replacements: { failureDetectionTimeSeconds: 300, taintReplacementTimeSeconds: 300 },
  },
};

const base: Partial<ClusterSpec> = { ...small, ...quick };
const roomy: Partial<ClusterSpec> = {
  ...base,
  processCounts: { storage: 5, log: 4, stateless: 4 },
};

function first(cluster: FoundationDBCluster, processClass: string): string {
  const groups = cluster.status?.processGroups ?? [];
  return groups.find((group) => group.processClass === processClass)?.processGroupID ?? "";
}

const withGeneral =
  (general: NonNullable<ClusterSpec["processes"]>[string]): Edit =>
  () => ({ processes: { general: { ...frugalProcesses["general"], ...general } } });

const podWith = (part: object): Edit => {
  const { podTemplate } = frugalProcesses["general"] ?? {};
  return withGeneral({
    podTemplate: { ...podTemplate, spec: { ...podTemplate?.spec, ...part } } as never,
  });
};

const edits: readonly [string, Edit, Partial<ClusterSpec>?, PreviewCase["options"]?][] = [
  ["a knob for all", withGeneral({ customParameters: ["knob_max_trace_lines=1000"] })],
  [
    "a knob for storage",
    () => ({
      processes: { ...frugalProcesses, storage: { customParameters: ["knob_max_trace_lines=9"] } },
    }),
  ],
  [
    "two storage process groups more",
    () => ({ processCounts: { storage: 5, log: 3, stateless: 3 } }),
  ],
  ["a log process group more", () => ({ processCounts: { storage: 3, log: 4, stateless: 3 } })],
  [
    "a stateless process group more",
    () => ({ processCounts: { storage: 3, log: 3, stateless: 4 } }),
  ],
  [
    "a storage process group less",
    () => ({ processCounts: { storage: 4, log: 4, stateless: 4 } }),
    roomy,
  ],
  [
    "a log process group less",
    () => ({ processCounts: { storage: 5, log: 3, stateless: 4 } }),
    roomy,
  ],
  [
    "a stateless process group less",
    () => ({ processCounts: { storage: 5, log: 4, stateless: 3 } }),
    roomy,
  ],
  ["all classes larger", () => ({ processCounts: { storage: 5, log: 4, stateless: 4 } })],
  [
    "replacing a storage process group",
    (_, cluster) => ({ processGroupsToRemove: [first(cluster, "storage")] }),
  ],
  [
    "replacing a log process group",
    (_, cluster) => ({ processGroupsToRemove: [first(cluster, "log")] }),
  ],
  [
    "replacing a stateless process group",
    (_, cluster) => ({ processGroupsToRemove: [first(cluster, "stateless")] }),
  ],
  [
    "replacing one of each class",
    (_, cluster) => ({
      processGroupsToRemove: ["storage", "log", "stateless"].map((name) => first(cluster, name)),
    }),
  ],
  ["a patch version", () => ({ version: "7.3.79" })],
  ["a new version line", () => ({ version: "7.4.6" })],
  ["a patch version, split image", () => ({ version: "7.3.79" }), { ...base, imageType: "split" }],
  [
    "a new version line, split image",
    () => ({ version: "7.4.6" }),
    { ...base, imageType: "split" },
  ],
  [
    "from double to triple",
    () => ({ databaseConfiguration: { redundancy_mode: "triple" } }),
    roomy,
  ],
  ["from double to single", () => ({ databaseConfiguration: { redundancy_mode: "single" } })],
  [
    "from triple to double",
    () => ({ databaseConfiguration: { redundancy_mode: "double" } }),
    { ...roomy, databaseConfiguration: { redundancy_mode: "triple" } },
  ],
  [
    "another storage engine",
    () => ({
      databaseConfiguration: { redundancy_mode: "double", storage_engine: "ssd-rocksdb-v1" },
    }),
  ],
  [
    "another storage engine, by the wiggle",
    () => ({
      databaseConfiguration: {
        redundancy_mode: "double",
        storage_engine: "ssd-redwood-1",
        storage_migration_type: "gradual",
        perpetual_storage_wiggle: 1,
      },
    }),
    roomy,
  ],
  [
    "more logs in the database",
    () => ({ databaseConfiguration: { redundancy_mode: "double", logs: 4 } }),
    roomy,
  ],
  [
    "more resolvers",
    () => ({ databaseConfiguration: { redundancy_mode: "double", resolvers: 2 } }),
    roomy,
  ],
  [
    "TLS",
    () => ({ mainContainer: { enableTls: true } }),
    { ...base, processes: securedProcesses },
    { hasCertificates: true },
  ],
  ["no names in the cluster file", () => ({ routing: { useDNSInClusterFile: false } })],
  [
    "names in the cluster file",
    () => ({ routing: { useDNSInClusterFile: true } }),
    { ...base, routing: { useDNSInClusterFile: false } },
  ],
  ["addresses of services", () => ({ routing: { publicIPSource: "service" } })],
  ["a headless service", () => ({ routing: { headlessService: true } })],
  ["split image", () => ({ imageType: "split" })],
  ["unified image", () => ({ imageType: "unified" }), { ...base, imageType: "split" }],
  [
    "a label on all pods",
    withGeneral({
      podTemplate: {
        ...frugalProcesses["general"]?.podTemplate,
        metadata: { labels: { team: "data" } },
      } as never,
    }),
  ],
  ["a priority for pods", podWith({ terminationGracePeriodSeconds: 45 })],
  [
    "larger volumes",
    withGeneral({
      volumeClaimTemplate: { spec: { resources: { requests: { storage: "256Gi" } } } } as never,
    }),
  ],
  ["two storage servers in a pod", () => ({ storageServersPerPod: 2 })],
  [
    "pods updated by replacement",
    (spec, cluster) => ({
      ...podWith({ terminationGracePeriodSeconds: 45 })(spec, cluster),
      automationOptions: { ...base.automationOptions, podUpdateStrategy: "Replace" },
    }),
  ],
  [
    "pods updated by deletion",
    (spec, cluster) => ({
      ...podWith({ terminationGracePeriodSeconds: 45 })(spec, cluster),
      automationOptions: { ...base.automationOptions, podUpdateStrategy: "Delete" },
    }),
  ],
  [
    "no restarts",
    (spec, cluster) => ({
      ...withGeneral({ customParameters: ["knob_max_trace_lines=7"] })(spec, cluster),
      automationOptions: { ...base.automationOptions, killProcesses: false },
    }),
  ],
  ["packing", () => ({ distributionConfig: { enabled: true } }), roomy],
  [
    "a hall more for storage",
    () => ({ processCounts: { storage: 9, log: 9, stateless: 6 } }),
    { ...threeHalls, ...quick },
  ],
  [
    "a knob over three halls",
    withGeneral({ customParameters: ["knob_max_trace_lines=1000"] }),
    { ...threeHalls, ...quick },
  ],
  [
    "replacing in a hall",
    (_, cluster) => ({ processGroupsToRemove: [first(cluster, "storage")] }),
    { ...threeHalls, ...quick },
  ],
  [
    "one copy, a knob",
    withGeneral({ customParameters: ["knob_max_trace_lines=1000"] }),
    { ...tiny, ...quick },
  ],
  [
    "one copy, growth",
    () => ({ processCounts: { storage: 2, log: 2, stateless: 2 } }),
    { ...tiny, ...quick },
  ],
  ["one copy, a patch version", () => ({ version: "7.3.79" }), { ...tiny, ...quick }],
  ["one copy, a new version line", () => ({ version: "7.4.6" }), { ...tiny, ...quick }],
  [
    "from single to double",
    () => ({
      databaseConfiguration: { redundancy_mode: "double" },
      processCounts: { storage: 3, log: 3, stateless: 2 },
    }),
    { ...tiny, ...quick },
  ],
  [
    "a knob and growth at once",
    (spec, cluster) => ({
      ...withGeneral({ customParameters: ["knob_max_trace_lines=1000"] })(spec, cluster),
      processCounts: { storage: 4, log: 3, stateless: 3 },
    }),
  ],
  [
    "a version and a replacement at once",
    (_, cluster) => ({ version: "7.3.79", processGroupsToRemove: [first(cluster, "storage")] }),
  ],
  [
    "triple, a knob",
    withGeneral({ customParameters: ["knob_max_trace_lines=1000"] }),
    { ...roomy, databaseConfiguration: { redundancy_mode: "triple" } },
  ],
  [
    "triple, a replacement",
    (_, cluster) => ({ processGroupsToRemove: [first(cluster, "log")] }),
    { ...roomy, databaseConfiguration: { redundancy_mode: "triple" } },
  ],
  [
    "triple, a patch version",
    () => ({ version: "7.3.79" }),
    { ...roomy, databaseConfiguration: { redundancy_mode: "triple" } },
  ],
  [
    "TLS, a knob",
    withGeneral({
      ...securedProcesses["general"],
      customParameters: ["knob_max_trace_lines=1000"],
    }),
    { ...base, mainContainer: { enableTls: true }, processes: securedProcesses },
    { hasCertificates: true },
  ],
  [
    "addresses, a replacement",
    (_, cluster) => ({ processGroupsToRemove: [first(cluster, "log")] }),
    { ...base, routing: { useDNSInClusterFile: false } },
  ],
  [
    "services, a knob",
    withGeneral({ customParameters: ["knob_max_trace_lines=1000"] }),
    { ...base, routing: { publicIPSource: "service", useDNSInClusterFile: false } },
  ],
  [
    "two storage servers in a pod, growth",
    () => ({ processCounts: { storage: 4, log: 3, stateless: 3 } }),
    { ...base, storageServersPerPod: 2 },
  ],
];

const faults: readonly [string, Change, Partial<ClusterSpec>?][] = [
  ["node-1 is lost", { type: "loseNode", node: "node-1" }],
  ["node-2 is lost", { type: "loseNode", node: "node-2" }, roomy],
  [
    "node-3 is lost, triple",
    { type: "loseNode", node: "node-3" },
    { ...roomy, databaseConfiguration: { redundancy_mode: "triple" } },
  ],
  ["zone-1 is lost", { type: "loseZone", zone: "zone-1" }],
  [
    "zone-2 is lost, three halls",
    { type: "loseZone", zone: "zone-2" },
    { ...threeHalls, ...quick },
  ],
  ["node-1 is drained", { type: "drain", node: "node-1" }],
  ["node-2 is drained", { type: "drain", node: "node-2" }, roomy],
  [
    "node-3 is drained, three halls",
    { type: "drain", node: "node-3" },
    { ...threeHalls, ...quick },
  ],
];

/** The examples of one cluster each. */
const examples = [
  ...["cluster", "bin-packing", "replacement-buckets", "three-data-hall", "three-datacenter"],
];

/** Members of the examples of several Kubernetes clusters: a picture has what one of them runs. */
const members: readonly (readonly [example: ExampleName, name: string])[] = [
  ["three-kubernetes-clusters", "az1"],
  ["three-kubernetes-clusters", "az2"],
  ["ha", "main"],
  ["ha", "remote"],
  ["ha", "satellite"],
];

const exampleEdits: readonly [string, Edit][] = [
  [
    "a knob",
    ({ processes }) => ({
      processes: {
        ...processes,
        general: {
          ...processes?.["general"],
          customParameters: [
            ...(processes?.["general"]?.customParameters ?? []),
            "knob_max_trace_lines=1000",
          ],
        },
      },
    }),
  ],
  ["a replacement", (_, cluster) => ({ processGroupsToRemove: [first(cluster, "log")] })],
];

export const previewCases: readonly PreviewCase[] = [
  ...examples.flatMap((example) =>
    exampleEdits.map(([text, edit]) => ({
      ...{ title: `example ${example}, ${text}`, example, spec: {}, change: apply(edit) },
      options: { zones: 3 },
    })),
  ),
  ...members.flatMap((member) =>
    exampleEdits.map(([text, edit]) => ({
      ...{ title: `example ${member[0]}, member ${member[1]}, ${text}`, member },
      ...{ spec: {}, change: apply(edit) },
    })),
  ),
  ...edits.map(([title, edit, spec = base, options]) => ({
    ...{ title, spec, change: apply(edit) },
    ...(options === undefined ? {} : { options }),
  })),
  ...faults.map(([title, change, spec = base]) => ({ title, spec, change: () => change })),
];
