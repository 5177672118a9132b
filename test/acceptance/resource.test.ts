// Checklist: what the resource means, what is wrong with it, and the entries of its process groups.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import {
  automationOf,
  locksOf,
  needsExplicitListenAddress,
  processSettingsOf,
  serversPerPod,
} from "../../src/api/effective.ts";
import { validateCluster } from "../../src/api/validate-cluster.ts";
import { noPodTemplateLimits } from "../../src/api/validate-pod-template.ts";
import type { PodTemplateLimits } from "../../src/api/validate-pod-template.ts";
import { clusterWith } from "../fixtures/sample-cluster.ts";
import { isCrashLooping } from "../../src/build/normalise.ts";
import type { PodSpec } from "../../src/kube/generated/types.ts";
import { classPriority, isEligibleClass } from "../../src/model/coordinator-choice.ts";
import { parseProcessGroupId, podNameOf } from "../../src/model/process-group-id.ts";
import {
  addCondition,
  hasCondition,
  isExcluded,
  isReadyForRemoval,
  markForRemoval,
  newProcessGroup,
  replacementConditions,
  setExcluded,
  withAddresses,
} from "../../src/model/process-group.ts";
import { processClasses } from "../../src/model/process-class.ts";
import { isReplacedByStrategy } from "../../src/plan/replacement/misconfiguration.ts";
import { missingTargets } from "../../src/plan/view/exclusion-targets.ts";
import { upgradeStateOf } from "../../src/plan/view/running-version.ts";
import { item, table } from "./checklist-case.ts";
import { markedBy, Scene } from "./scene.ts";

type Spec = Partial<ClusterSpec>;
const nowMs = Date.UTC(2026, 0, 1);
const specOf = (spec: Spec): ClusterSpec => ({ version: "7.3.63", ...spec });

const reconciled = (change: (scene: Scene) => void = () => {}): boolean => {
  const scene = new Scene();
  change(scene);
  return scene.plan().isReconciled;
};
item("E04.1", () => assert.ok(reconciled()));
item("E04.2", () => {
  const scene = new Scene({ processCounts: { storage: 5, log: 4, stateless: 3 } });
  const id = scene.ids("storage").at(-1) ?? "";
  scene.spec({ processCounts: { storage: 4, log: 4, stateless: 3 } });
  scene.mark(id);
  scene.exclude(id, { isKnown: true });
  scene.condition(id, "ResourcesTerminating", 60);
  scene.pod(id).metadata.deletionTimestamp = new Date(scene.nowMs - 60_000).toISOString();
  const claim = scene.pvcs.get(`${scene.podName(id)}-data`);
  if (claim) claim.metadata.deletionTimestamp = new Date(scene.nowMs - 60_000).toISOString();
  const { status } = scene.plan();
  assert.equal(status.generations?.hasPendingRemoval, 2);
  assert.equal(status.generations?.reconciled, 2);
});
item("E04.3", () => {
  const scene = new Scene().spec({ processCounts: { storage: 5, log: 4, stateless: 3 } });
  const plan = scene.plan();
  assert.ok(!plan.isReconciled);
});
item("E04.4", () => {
  const isReconciled = reconciled((scene) =>
    scene.pods.delete(scene.podName(scene.ids("log")[0] ?? "")),
  );
  assert.ok(!isReconciled);
});
item("E04.5", () => {
  const scene = new Scene().spec({ databaseConfiguration: { redundancy_mode: "triple" } });
  scene.database.data = { state: { healthy: false } };
  const { status, isReconciled } = scene.plan();
  assert.ok(!isReconciled);
  assert.equal(status.generations?.needsConfigurationChange, 2);
});
item("E04.6", () => {
  const processes = {
    general: { customParameters: ["a=1"], podTemplate: { spec: { containers: [] } } },
    storage: { customParameters: ["b=2"] },
  };
  const found = processSettingsOf(specOf({ processes }), "storage");
  assert.deepEqual([found.customParameters, found.podTemplate !== undefined], [["b=2"], true]);
  assert.deepEqual(processSettingsOf(specOf({ processes }), "log").customParameters, ["a=1"]);
});
item("E04.7", () => {
  assert.equal(locksOf(specOf({})).isEnabled, false);
  assert.equal(locksOf(specOf({ faultDomain: { zoneCount: 3 } })).isEnabled, true);
  assert.equal(locksOf(specOf({ lockOptions: { disableLocks: false } })).isEnabled, true);
  assert.equal(
    locksOf(specOf({ faultDomain: { zoneCount: 3 }, lockOptions: { disableLocks: true } }))
      .isEnabled,
    false,
  );
  assert.equal(locksOf(specOf({ lockOptions: { lockDurationMinutes: 3 } })).durationMinutes, 3);
});
item("E04.8", () => {
  const scene = new Scene();
  const [a = "", b = ""] = scene.ids("storage");
  scene.condition(a, "MissingProcesses", 10);
  scene.condition(b, "PodFailing", 10);
  const found = scene.groups.filter((group) => hasCondition(group, "MissingProcesses"));
  assert.deepEqual(
    found.map((group) => group.processGroupID),
    [a],
  );
});
item("E04.9", () => {
  const scene = new Scene({ storageServersPerPod: 2 });
  assert.deepEqual(scene.draft().status.storageServersPerDisk, [2]);
  scene.spec({ storageServersPerPod: 3 });
  assert.deepEqual(scene.draft().status.storageServersPerDisk, [2, 3]);
});
item("E04.10", () => {
  const old = { addresses: ["1.1.1.1"] };
  assert.deepEqual(withAddresses(old, ["2.2.2.2"], true).addresses, ["1.1.1.1", "2.2.2.2"]);
  assert.deepEqual(withAddresses(old, ["2.2.2.2"], false).addresses, ["2.2.2.2"]);
});

item("E05.1", () => {
  assert.deepEqual(
    processClasses.filter((each) => isEligibleClass(each, undefined)),
    ["storage", "transaction", "log", "coordinator"],
  );
  assert.ok(!isEligibleClass("log", [{ processClass: "storage" }]));
});
item("E05.2", () => {
  assert.deepEqual(
    ["log", "storage"].map((each) =>
      classPriority(each, [{ processClass: "storage", priority: 7 }]),
    ),
    [1, 7],
  );
});
item("E05.3", () => {
  const listens = (spec: Spec): boolean => needsExplicitListenAddress(specOf(spec));
  assert.deepEqual(
    [
      {},
      { useExplicitListenAddress: false },
      { useExplicitListenAddress: false, routing: { publicIPSource: "service" as const } },
    ].map(listens),
    [true, false, true],
  );
});
item("E05.4", () => {
  const scene = new Scene();
  const [id = ""] = scene.ids("storage");
  const told = (ageSeconds: number): number => {
    const { metadata } = scene.pod(id);
    metadata.annotations = {
      ...metadata.annotations,
      "foundationdb.org/last-applied-config-map": "old",
    };
    scene.pod(id).status = { phase: "Pending" };
    scene.condition(id, "PodPending", ageSeconds);
    return scene.decide("updatePodConfig").actions?.length ?? 0;
  };
  assert.deepEqual([told(10), told(1_000)], [1, 0]);
});
const failed = (
  type: (typeof replacementConditions)[number] | "IncorrectPodSpec",
  ageSeconds: number,
): number => {
  const scene = new Scene();
  const [id = ""] = scene.ids("storage");
  scene.condition(id, type, ageSeconds);
  // One that is there, made from another specification, is no failure [R10].
  if (type === "MissingPVC") scene.pvcs.delete(`${scene.pod(id).metadata.name}-data`);
  return markedBy(scene.decideAsIs("replaceFailedProcessGroups")).length;
};
item("E05.5", () => {
  const plain = replacementConditions.filter((type) => type !== "NodeTaintReplacing");
  for (const type of plain) assert.equal(failed(type, 8_000), 1, type);
  assert.equal(failed("IncorrectPodSpec", 8_000), 0);
});
item("E05.6", () => {
  assert.deepEqual([failed("PodFailing", 7_100), failed("PodFailing", 7_300)], [0, 1]);
});
item("E05.7", () => {
  const replaces = (
    podUpdateStrategy: "Replace" | "ReplaceTransactionSystem" | "Delete",
  ): boolean[] => {
    const scene = new Scene().spec({ automationOptions: { podUpdateStrategy } });
    const { desired, groups } = scene.draft();
    return ["storage", "log"].map((each) =>
      groups
        .filter((group) => group.processClass === each)
        .every((group) => isReplacedByStrategy(desired, group)),
    );
  };
  assert.deepEqual(
    [replaces("Replace"), replaces("ReplaceTransactionSystem"), replaces("Delete")],
    [
      [true, true],
      [false, true],
      [false, false],
    ],
  );
});
item("E05.8", () => {
  const scene = new Scene();
  const [a = "", b = ""] = scene.ids("storage");
  scene.spec({ processGroupsToRemove: [a], processGroupsToRemoveWithoutExclusion: [b] });
  const groups = scene.draft().groups.filter((group) => group.removalTimestamp !== undefined);
  assert.deepEqual(
    groups.map((group) => [group.processGroupID, group.exclusionSkipped === true]),
    [
      [a, false],
      [b, true],
    ],
  );
});

const fields = (spec: Spec, limits: PodTemplateLimits = noPodTemplateLimits): string[] =>
  validateCluster(clusterWith(spec), { podTemplateLimits: limits }).map((problem) => problem.field);
item("E05.9", () =>
  assert.deepEqual(fields({ processGroupIDPrefix: "dc.1" }), ["spec.processGroupIDPrefix"]),
);
item("E05.10", () => {
  assert.deepEqual(fields({ version: "7.0.9" }), ["spec.version"]);
  assert.deepEqual(fields({ version: "seven" }), ["spec.version"]);
  assert.deepEqual(fields({ version: "7.1.0" }), []);
});
item("E05.11", () => {
  const engine = (version: string, storage_engine: string): string[] =>
    fields({
      version,
      databaseConfiguration: { storage_engine } as ClusterSpec["databaseConfiguration"],
    });
  assert.deepEqual(engine("7.1.61", "ssd-redwood-1"), [
    "spec.databaseConfiguration.storage_engine",
  ]);
  assert.deepEqual(engine("7.3.1", "ssd-redwood-1"), []);
  assert.deepEqual(engine("7.1.61", "ssd-sharded-rocksdb"), [
    "spec.databaseConfiguration.storage_engine",
  ]);
});
item("E05.12", () => {
  const spec = { coordinatorSelection: [{ processClass: "stateless" }] } as Spec;
  assert.deepEqual(fields(spec), ["spec.coordinatorSelection[0].processClass"]);
});
item("E05.13", () => {
  const spec: Spec = { dataCenter: "a", localities: [{ key: "dcid", value: "b" }] };
  assert.deepEqual(fields(spec), ["spec.dataCenter"]);
  assert.deepEqual(fields({ routing: { podIPFamily: 5 } }), ["spec.routing.podIPFamily"]);
});
const template = (spec: Partial<PodSpec>): Spec => ({
  processes: {
    general: { podTemplate: { spec: { containers: [], automountServiceAccountToken: false } } },
    log: {
      podTemplate: { spec: { containers: [], automountServiceAccountToken: false, ...spec } },
    },
  },
});
item("E05.14", () => {
  const strict: PodTemplateLimits = {
    allowsAutomountServiceAccountToken: false,
    allowsHostNetwork: false,
    allowsHostIpc: false,
    allowsHostPid: false,
    serviceAccountNames: ["fdb"],
    volumeSources: ["secret"],
    volumeMounts: ["certificates"],
  };
  const path = "spec.processes.log.podTemplate.spec";
  const mounts = (name: string): Partial<PodSpec> => ({
    containers: [{ name: "foundationdb", volumeMounts: [{ name, mountPath: "/x" }] }],
  });
  const rows: [Partial<PodSpec>, string[]][] = [
    [{}, []],
    [{ automountServiceAccountToken: true }, [`${path}.automountServiceAccountToken`]],
    [{ hostNetwork: true }, [`${path}.hostNetwork`]],
    [{ hostNetwork: false }, []],
    [{ hostIPC: true }, [`${path}.hostIPC`]],
    [{ hostIPC: false }, []],
    [{ hostPID: true }, [`${path}.hostPID`]],
    [{ hostPID: false }, []],
    [{ serviceAccountName: "fdb" }, []],
    [{ serviceAccountName: "mine" }, [`${path}.serviceAccountName`]],
    [{ volumes: [{ name: "a", secret: { secretName: "s" } }] }, []],
    [{ volumes: [{ name: "a", hostPath: { path: "/" } }] }, [`${path}.volumes[0].hostPath`]],
    [mounts("certificates"), []],
    [mounts("data"), [`${path}.containers[0].volumeMounts[0].name`]],
  ];
  for (const [spec, expected] of rows) {
    assert.deepEqual(fields(template(spec), strict), expected, JSON.stringify(spec));
    assert.deepEqual(fields(template(spec)), []);
  }
});
item("E05.15", () => {
  const recreated = (noSchedule: string[]): number => {
    const scene = new Scene().spec({ buggify: { noSchedule } });
    return scene.decide("deletePodsForBuggification").actions?.length ?? 0;
  };
  const [id = ""] = new Scene().ids("storage");
  assert.deepEqual([recreated([]), recreated([id]), recreated(["other"])], [0, 1, 0]);
});
item("E05.16", () => {
  const { spec } = clusterWith({
    buggify: {
      crashLoop: ["log-1"],
      crashLoopContainers: [
        { containerName: "foundationdb", targets: ["log-2"] },
        { containerName: "foundationdb-kubernetes-sidecar", targets: ["*"] },
      ],
    },
  });
  const crashes = (name: string, id: string): boolean => isCrashLooping(spec, name, id);
  assert.deepEqual(
    [
      crashes("foundationdb", "log-1"),
      crashes("foundationdb", "log-2"),
      crashes("foundationdb", "log-3"),
      crashes("foundationdb-kubernetes-sidecar", "log-3"),
    ],
    [true, true, false, true],
  );
});
item("E05.17", () => {
  assert.deepEqual(upgradeStateOf("7.3.1", "7.3.1"), { isUpgrading: false, isCompatible: true });
  assert.deepEqual(upgradeStateOf("7.3.1", "7.3.2"), { isUpgrading: true, isCompatible: true });
  assert.deepEqual(upgradeStateOf("7.1.1", "7.3.2"), { isUpgrading: true, isCompatible: false });
});
item("E05.18", () => {
  assert.equal(podNameOf("c", "storage", "dc1-storage-7"), "c-storage-7");
  assert.equal(
    podNameOf("c", "cluster_controller", "cluster_controller-7"),
    "c-cluster-controller-7",
  );
});
const group = newProcessGroup("storage-1", "storage", nowMs);
item("E05.19", () => {
  const once = addCondition(group, "PodFailing", nowMs);
  assert.equal(addCondition(once, "PodFailing", nowMs + 60_000), once);
  const leaving = setExcluded(markForRemoval(group, nowMs), nowMs);
  assert.equal(addCondition(leaving, "PodFailing", nowMs), leaving);
});
item("E05.20", () => {
  const excluded = setExcluded(markForRemoval(group, nowMs), nowMs);
  assert.ok(isExcluded(excluded) && isReadyForRemoval(excluded));
  assert.deepEqual(excluded.processGroupConditions ?? [], []);
});
item("E05.21", () => {
  assert.deepEqual(parseProcessGroupId("p-grv_proxy-12"), {
    prefix: "p",
    processClass: "grv_proxy",
    number: 12,
  });
  for (const text of ["storage", "storage-x", "-1"])
    assert.equal(parseProcessGroupId(text), undefined);
});
table(
  {
    "E05.22": [
      [
        [["1.1.1.1"], ["1.1.1.1"], []],
        [["1.1.1.1", "1.1.1.2"], ["1.1.1.1"], ["1.1.1.2"]],
        [["1.1.1.1"], ["locality_instance_id:storage-1"], []],
        [["1.1.1.1"], ["1.1.1.9"], ["1.1.1.1"]],
        [[], [], []],
      ],
    ],
  } satisfies Record<string, [[string[], string[], string[]][]]>,
  (rows: [string[], string[], string[]][]) => {
    for (const [addresses, excluded, expected] of rows) {
      const exclusions = {
        localities: new Set(excluded.filter((each) => each.startsWith("locality"))),
        addresses: new Set(excluded.filter((each) => !each.startsWith("locality"))),
      };
      const one = { processGroupID: "storage-1", processClass: "storage", addresses };
      assert.deepEqual(missingTargets(exclusions, one, false), expected);
    }
  },
);
item("E05.24", () => {
  const ids = (spec: Spec): string =>
    locksOf(specOf({ lockOptions: { denyList: [{ id: "dc2" }] }, ...spec })).denyList[0]?.id ?? "";
  assert.equal(ids({}), "dc2");
  const scene = new Scene({ processGroupIDPrefix: "dc1" });
  for (const each of scene.groups)
    assert.equal(parseProcessGroupId(each.processGroupID)?.prefix, "dc1");
});
item("E05.25", () => {
  const types = (processClass: string): string[] =>
    newProcessGroup("x-1", processClass, nowMs).processGroupConditions.map((each) => each.type);
  assert.deepEqual(types("stateless"), ["MissingProcesses", "MissingPod"]);
  assert.deepEqual(types("log"), ["MissingProcesses", "MissingPod", "MissingPVC"]);
});
item("E05.26", () => {
  const scene = new Scene().spec({ processCounts: { storage: 300, log: 4, stateless: 3 } });
  const groups = scene.decide("addProcessGroups").groups ?? [];
  assert.equal(new Set(groups.map((each) => each.processGroupID)).size, groups.length);
  assert.equal(serversPerPod(specOf({}), "storage"), 1);
  assert.equal(automationOf(specOf({})).useLocalitiesForExclusion, true);
});
