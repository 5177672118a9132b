// Decisions about halls: which there are, where process groups go, and which are in the wrong place.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { hallSpreadOf } from "../../src/api/hall-spread.ts";
import type { ClusterSpec, ProcessGroupStatus } from "../../src/api/cluster.ts";
import type { Pod } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import { isMarkedForRemoval } from "../../src/model/process-group.ts";
import { addProcessGroups } from "../../src/plan/process-groups/add-process-groups.ts";
import { crowdedGroups } from "../../src/plan/placement/hall-crowding.ts";
import { misplacedGroups, shrinkByHall } from "../../src/plan/placement/hall-balance.ts";
import { replaceMisconfiguredProcessGroups } from "../../src/plan/replacement/replace-misconfigured-process-groups.ts";
import type { Snapshot } from "../../src/plan/snapshot.ts";
import { groupsIn, hallScene, hallSpec, nineNodes, nodesIn, zoneLabel } from "./hall-scene.ts";

const small = {
  processCounts: { storage: 6, log: 3, stateless: -1 },
} satisfies Partial<ClusterSpec>;

type Mode = NonNullable<ClusterSpec["databaseConfiguration"]>["redundancy_mode"];

function newGroups(
  spec: Partial<ClusterSpec>,
  groups: readonly ProcessGroupStatus[] = [],
  more: Partial<Snapshot> = {},
  configured = false,
) {
  const { snapshot, draft } = hallScene(spec, groups, more);
  const status = { ...draft.status, configured };
  const result = addProcessGroups(snapshot, { ...draft, status });
  const counts: Record<string, Record<string, number>> = {};
  for (const { processClass, hall = "none" } of result.groups ?? draft.groups) {
    const halls = (counts[processClass] ??= {});
    halls[hall] = (halls[hall] ?? 0) + 1;
  }
  return {
    counts,
    waits: (result.waits ?? []).map(({ reason, message }) => `${reason}: ${message}`),
  };
}

test("[HALL1] a hall from a label of the node is spread; the locality of the mode comes first", () => {
  const localities = [
    { key: "datacenter", topologyKey: "region" },
    { key: "data_hall", topologyKey: "hall" },
  ];
  const spreadOf = (redundancy_mode: Mode) =>
    hallSpreadOf({ version: "7.3.63", databaseConfiguration: { redundancy_mode }, localities });
  assert.equal(spreadOf("three_data_hall")?.topologyKey, "hall");
  assert.equal(spreadOf("three_data_hall_fallback")?.topologyKey, "hall");
  assert.deepEqual(spreadOf("three_datacenter"), {
    key: "dcid",
    topologyKey: "region",
    values: [],
    hallsNeeded: 3,
  });
  assert.equal(spreadOf("triple")?.key, "data_hall");
  assert.equal(spreadOf("triple")?.hallsNeeded, undefined);
});

test("[HALL2] a hall by value or variable is not spread", () => {
  for (const given of [{ value: "az1" }, { envValue: "AZ" }]) {
    const localities = [{ key: "data_hall", ...given, topologyKey: zoneLabel }];
    assert.equal(hallSpreadOf({ version: "7.3.63", localities }), undefined);
    const { counts } = newGroups(hallSpec({ ...small, localities }));
    assert.deepEqual(counts, { storage: { none: 6 }, log: { none: 3 } });
  }
});

test("[HALL3] the halls are those in values, else those of the nodes that the pod template allows", () => {
  const values = ["b", "c", "a"];
  const localities = [{ key: "data_hall", topologyKey: zoneLabel, values }];
  const chosen = newGroups(hallSpec({ ...small, localities }), [], { placementNodes: undefined });
  assert.deepEqual(chosen.counts["storage"], { a: 2, b: 2, c: 2 });
  const placementNodes = nodesIn("az1", "az2", "az3", "az4", "az1", "az2", "az3", "az4");
  const template = (spec: object) =>
    ({
      general: { podTemplate: { spec: { containers: [], ...spec } } },
    }) as ClusterSpec["processes"];
  const expression = { key: zoneLabel, operator: "In", values: ["az1", "az2", "az4"] };
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [expression] }],
    },
  };
  const processes = template({ affinity: { nodeAffinity } });
  const within = newGroups(hallSpec({ ...small, processes }), [], { placementNodes });
  assert.deepEqual(within.counts["log"], { az1: 1, az2: 1, az4: 1 });
  const selected = placementNodes.map((node) => {
    const { labels = {} } = node.metadata;
    const disk = labels[zoneLabel] === "az3" ? "slow" : "fast";
    return { ...node, metadata: { ...node.metadata, labels: { ...labels, disk } } };
  });
  const bySelector = template({ nodeSelector: { disk: "fast" } });
  const fast = newGroups(hallSpec({ ...small, processes: bySelector }), [], {
    placementNodes: selected,
  });
  assert.deepEqual(fast.counts["log"], { az1: 1, az2: 1, az4: 1 });
});

test("[HALL4] not exactly three halls: they are named, and nothing is placed", () => {
  const cases: [Snapshot["placementNodes"], RegExp][] = [
    [undefined, /values of data_hall are unknown: this operator may not look at nodes/],
    [[], /the nodes that may be used have 0 \(label topology.kubernetes.io\/zone\)$/],
    [nodesIn("az1", "az2"), /exactly 3 values of data_hall are needed.* have 2 .*: az1, az2$/],
    [nodesIn("az1", "az2", "az3", "az4"), /have 4 .*: az1, az2, az3, az4$/],
  ];
  for (const [placementNodes, message] of cases) {
    const { counts, waits } = newGroups(hallSpec(small), [], { placementNodes });
    assert.deepEqual(counts, {});
    assert.equal(waits.length, 1);
    assert.match(waits[0] ?? "", message);
    assert.match(waits[0] ?? "", /^HallsMissing: three_data_hall/);
  }
});

test("[HALL40] halls of other resources are not missing, those of own processes that are gone are", () => {
  const placementNodes = nodesIn("az1", "az1");
  const seenIn = (prefix: string, halls: readonly string[]): Snapshot["database"] => ({
    kind: "seen",
    observedMs: 0,
    status: {
      cluster: {
        processes: Object.fromEntries(
          halls.map((hall, index) => {
            const instance_id = `${prefix}storage-${index + 1}`;
            return [instance_id, { locality: { instance_id, data_hall: hall } }];
          }),
        ),
      },
    },
  });
  const own = groupsIn("storage", { az1: 1 });
  const others = { placementNodes, database: seenIn("other-", ["az2", "az3"]) };
  const shared = newGroups(hallSpec(small), own, others, true);
  assert.deepEqual(shared, { counts: { storage: { az1: 6 }, log: { az1: 3 } }, waits: [] });
  const gone = { placementNodes, database: seenIn("", ["az2", "az3"]) };
  const alone = newGroups(hallSpec(small), own, gone, true);
  assert.deepEqual(alone.counts, { storage: { az1: 1 } });
  assert.match(alone.waits.join(), /^HallsMissing: .* have 1 /);
});

test("[HALL4] halls in use stay: a fourth zone of nodes does not stop a cluster, nor nodes that are gone", () => {
  const used = groupsIn("storage", { az1: 2, az2: 2, az3: 1 });
  const placementNodes = [...nineNodes, ...nodesIn("az4", "az4")];
  const more = newGroups(hallSpec(small), used, { placementNodes });
  assert.deepEqual(more.counts["storage"], { az1: 2, az2: 2, az3: 2 });
  assert.deepEqual(more.waits, []);
  const left = { placementNodes: nodesIn("az1", "az2", "az1", "az2") };
  const fewer = newGroups(hallSpec(small), used, left, true);
  assert.deepEqual(fewer.counts["storage"], { az1: 2, az2: 2, az3: 2 });
});

function podOn(nodeName: string | undefined, id: string): Stored<Pod> {
  const processClass = id.split("-")[0] ?? "";
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `sample-${id}`,
      uid: id,
      labels: {
        "foundationdb.org/fdb-process-group-id": id,
        "foundationdb.org/fdb-process-class": processClass,
      },
    },
    spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
  };
}

test("[HALL5] [HALL6] a process group without a hall gets that of its node, and keeps it", () => {
  const nodes = new Map(nineNodes.map((node) => [node.metadata.name ?? "", node]));
  const pods = new Map(
    [podOn("node-1", "storage-1"), podOn("node-2", "storage-2")].map((pod) => [
      pod.metadata.name ?? "",
      pod,
    ]),
  );
  const groups = [
    { processGroupID: "storage-1", processClass: "storage" },
    { processGroupID: "storage-2", processClass: "storage", hall: "az1" },
  ];
  const { draft } = hallScene(hallSpec(small), groups, { nodes, pods });
  assert.deepEqual(
    draft.groups.map(({ hall }) => hall),
    ["az2", "az1"],
  );
  const plain = hallScene({ databaseConfiguration: { redundancy_mode: "triple" } }, groups, {
    nodes,
    pods,
  });
  assert.deepEqual(
    plain.draft.groups.map((group) => "hall" in group),
    [false, false],
  );
});

test("[HALL6] a waiting pod tells the hall it was made for; a volume without a pod waits for its node", () => {
  const waiting = podOn(undefined, "log-1");
  const expression = { key: zoneLabel, operator: "In", values: ["az3"] };
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [expression] }],
      },
    },
  };
  const pods = new Map([
    ["sample-log-1", { ...waiting, spec: { containers: [], affinity } } as Stored<Pod>],
  ]);
  const group = { processGroupID: "log-1", processClass: "log" };
  const { draft } = hallScene(hallSpec(small), [group], { pods });
  assert.equal(draft.groups[0]?.hall, "az3");

  const labels = {
    "foundationdb.org/fdb-process-group-id": "log-1",
    "foundationdb.org/fdb-process-class": "log",
  };
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "sample-log-1-data", labels },
  };
  const tied = newGroups(hallSpec(small), [group], {
    pods: new Map(),
    pvcs: new Map([["sample-log-1-data", claim]]),
  });
  assert.deepEqual(tied.counts["log"], { none: 1, az1: 1, az2: 1 });
  const free = newGroups(hallSpec(small), [group], { pods: new Map() });
  assert.deepEqual(free.counts["log"], { az1: 1, az2: 1, az3: 1 });
});

test("[HALL7] a pod may run only in its hall, whatever alternatives the user gave", () => {
  const termsOf = (processes: ClusterSpec["processes"], hall: string | undefined) => {
    const spec = hallSpec(processes === undefined ? {} : { processes });
    const group = { processGroupID: "log-1", processClass: "log" };
    const { draft } = hallScene(spec, [hall === undefined ? group : { ...group, hall }]);
    const [first] = draft.groups;
    assert.ok(first !== undefined);
    const affinity = draft.desired.pod(first)?.object.spec?.affinity?.nodeAffinity;
    return affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  };
  const own = { key: zoneLabel, operator: "In", values: ["az2"] };
  assert.equal(termsOf(undefined, undefined), undefined);
  assert.deepEqual(termsOf(undefined, "az2"), [{ matchExpressions: [own] }]);
  const disk = { key: "disk", operator: "Exists" };
  const nodeSelectorTerms = [
    { matchExpressions: [disk] },
    { matchFields: [{ key: "metadata.name", operator: "In", values: ["node-7"] }] },
  ];
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
  const processes = { general: { podTemplate: { spec: { containers: [], affinity } } } };
  assert.deepEqual(termsOf(processes as ClusterSpec["processes"], "az2"), [
    { matchExpressions: [disk, own] },
    { ...nodeSelectorTerms[1], matchExpressions: [own] },
  ]);
});

test("[HALL8] new process groups go to the hall with fewest of their class, class by class", () => {
  const present = [...groupsIn("storage", { az1: 2, az3: 1 }), ...groupsIn("log", { az2: 1 })];
  const { counts, waits } = newGroups(hallSpec(small), present);
  assert.deepEqual(counts, {
    storage: { az1: 2, az2: 2, az3: 2 },
    log: { az1: 1, az2: 1, az3: 1 },
  });
  assert.deepEqual(waits, []);
});

test("[HALL9] inferred counts are multiples of three with nine logs; given ones are kept", () => {
  const counts = (redundancy_mode: Mode, more: Partial<ClusterSpec> = {}) =>
    hallScene(hallSpec({ databaseConfiguration: { redundancy_mode }, ...more })).draft.desired
      .counts;
  assert.deepEqual(counts("three_data_hall"), { storage: 6, log: 9, stateless: 12 });
  assert.deepEqual(counts("three_data_hall_fallback"), { storage: 6, log: 9, stateless: 12 });
  const localities = [{ key: "dcid", topologyKey: zoneLabel }];
  assert.deepEqual(counts("three_datacenter", { localities }), {
    storage: 6,
    log: 9,
    stateless: 12,
  });
  assert.deepEqual(counts("three_data_hall", { processCounts: { storage: 10, log: 4 } }), {
    storage: 10,
    log: 4,
    stateless: 12,
  });
});

test("[HALL10] an overfull hall is emptied by replacement, never more than an even spread needs", () => {
  const misplaced = (halls: Record<string, number>, storage = 6) => {
    const spec = hallSpec({ processCounts: { storage, log: -1, stateless: -1 } });
    const { snapshot, draft } = hallScene(spec, groupsIn("storage", halls));
    return misplacedGroups(snapshot, draft).map(({ group, cause }) => `${group.hall} ${cause}`);
  };
  assert.deepEqual(misplaced({ az1: 2, az2: 2, az3: 2 }), []);
  assert.deepEqual(misplaced({ az1: 3, az2: 2, az3: 1 }), [
    "az1 hall az1 has 3 storage process groups of 2",
  ]);
  assert.equal(misplaced({ az1: 6 }).length, 2, "one hall's worth at a time");
  assert.deepEqual(misplaced({ az1: 4, az2: 2, az3: 2 }), [], "a shrink takes them");
  assert.deepEqual(misplaced({ az1: 2, az2: 2, az3: 1, elsewhere: 1 }), [
    "elsewhere hall elsewhere has 1 storage process groups of 0",
  ]);
});

test("[HALL10] victims come from the zone with most of them", () => {
  const spec = hallSpec({ processCounts: { storage: 3, log: -1, stateless: -1 } });
  const groups = groupsIn("storage", { az1: 3 }).map((group, index) => ({
    ...group,
    faultDomain: index === 0 ? "z1" : "z2",
  }));
  const { snapshot, draft } = hallScene(spec, groups);
  const result = replaceMisconfiguredProcessGroups(snapshot, draft);
  const marked = (result.groups ?? []).filter(isMarkedForRemoval);
  assert.deepEqual(
    marked.map(({ processGroupID }) => processGroupID),
    ["storage-2"],
  );
  assert.match(result.events?.[0]?.message ?? "", /hall az1 has 3 storage process groups of 1/);
});

test("[HALL11] a shrink takes from the most overfull hall first", () => {
  const spec = hallSpec({ processCounts: { storage: 9, log: -1, stateless: -1 } });
  const { draft } = hallScene(spec, groupsIn("storage", { az1: 6, az2: 4, az3: 2 }));
  assert.deepEqual(shrinkByHall(draft, "storage", 3), new Map([["az1", 3]]));
});

for (const mode of ["three_data_hall", "three_datacenter"] as const) {
  test(`[HALL12] ${mode}: a hall with fewer than two zones is named with what it lacks, and nothing is placed before there is a database`, () => {
    const placementNodes = nodesIn("az1", "az2", "az3", "az1", "az3");
    const key = mode === "three_data_hall" ? "data_hall" : "dcid";
    const spec = hallSpec({
      ...small,
      databaseConfiguration: { redundancy_mode: mode },
      localities: [{ key, topologyKey: zoneLabel }],
    });
    const { counts, waits } = newGroups(spec, [], { placementNodes });
    assert.deepEqual(counts, {});
    assert.deepEqual(waits, [`HallsMissing: ${mode}: hall az2 has 1 zone, at least 2 needed`]);
  });
}

test("[HALL12] a database that exists gets its processes back although a hall has one zone", () => {
  const placementNodes = nodesIn("az1", "az2", "az3", "az1", "az3");
  const { counts, waits } = newGroups(hallSpec(small), [], { placementNodes }, true);
  assert.deepEqual(counts["log"], { az1: 1, az2: 1, az3: 1 });
  assert.equal(waits.length, 1);
});

test("[HALL39] logs that are to go and wait for those that share a zone of their hall: one of these is replaced", () => {
  const halls = ["az1", "az2", "az3"];
  const leaving = groupsIn("log", { az1: 1, az2: 1, az3: 1 }).map((group) => ({
    ...group,
    removalTimestamp: "2026-01-01T00:00:00Z",
  }));
  const staying = groupsIn("log", { az1: 3, az2: 3, az3: 3 }).map((group) => ({
    ...group,
    processGroupID: `new-${group.processGroupID}`,
  }));
  const seen = (zones: number): Snapshot["database"] => ({
    kind: "seen",
    observedMs: 0,
    status: {
      cluster: {
        configuration: { redundancy_mode: "three_data_hall" },
        processes: Object.fromEntries(
          [...leaving, ...staying].map(({ processGroupID: id, hall = "" }, index) => {
            const isNew = id.startsWith("new-");
            const zoneid = `${hall}-${isNew ? index % zones : "old"}`;
            const locality = { instance_id: id, data_hall: hall, zoneid };
            return [
              id,
              { class_type: "log", address: `10.1.0.${index}:4501`, locality, roles: [] },
            ];
          }),
        ),
      },
    },
  });
  const replacedIn = (zones: number): string[] => {
    const scene = hallScene(
      hallSpec({ processCounts: { storage: 6, log: 9 } }),
      [...leaving, ...staying],
      {
        database: seen(zones),
        nowMs: Date.parse("2026-01-01T01:00:00Z"),
      },
    );
    const { snapshot } = scene;
    const cluster = {
      ...snapshot.cluster,
      status: { ...snapshot.cluster.status, configured: true },
    };
    const found = crowdedGroups(
      { ...snapshot, cluster },
      { ...scene.draft, groups: [...leaving, ...staying] },
    );
    return found.map(({ group }) => group.hall ?? "").sort();
  };
  assert.deepEqual(replacedIn(1), halls);
  assert.deepEqual(replacedIn(3), [], "nothing holds them up");
});
