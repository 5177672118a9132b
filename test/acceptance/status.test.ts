// Checklist: what updateStatus says about process groups, the running version, and groups that it finds by their objects.
import { strict as assert } from "node:assert";
import type { ClusterSpec } from "../../src/api/cluster.ts";
import type { Node } from "../../src/kube/generated/types.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { DatabaseStatus } from "../../src/model/database-status.ts";
import { processesByGroup, zoneOfProcessGroup } from "../../src/model/locality.ts";
import { discoverGroups } from "../../src/plan/process-groups/discovery.ts";
import { runningVersionOf } from "../../src/plan/view/running-version.ts";
import { defaultPlanOptions } from "../../src/plan/snapshot.ts";
import { withTaints } from "../../src/plan/replacement/taints.ts";
import type { TaintOption } from "../../src/plan/replacement/taints.ts";
import { item, table } from "./checklist-case.ts";
import { annotationKeys, Scene } from "./scene.ts";
import type { Group } from "./scene.ts";

const nowMs = Date.UTC(2026, 0, 1);
const seconds = nowMs / 1000;
const group = { processGroupID: "storage-1", processClass: "storage" };
const nodeWith = (key: string, ageSeconds: number): Stored<Node> => {
  const timeAdded = new Date(nowMs - ageSeconds * 1000).toISOString();
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n" },
    spec: { taints: [{ key, effect: "NoSchedule", timeAdded }] },
  } as Stored<Node>;
};
const bare = { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: {} } as Stored<Node>;
const option = (key: string, durationInSeconds: number): TaintOption => ({
  key,
  durationInSeconds,
});
const both = {
  ...group,
  processGroupConditions: [
    { type: "NodeTaintDetected" as const, timestamp: seconds - 500 },
    { type: "NodeTaintReplacing" as const, timestamp: seconds - 300 },
  ],
};
const types = (found: Pick<Group, "processGroupConditions">): string[] =>
  (found.processGroupConditions ?? []).map((each) => each.type ?? "");
item("B66.1", () => {
  assert.deepEqual(types(withTaints(group, nodeWith("k", 1), [option("k", 60)], { nowMs })), [
    "NodeTaintDetected",
  ]);
});
item("B66.2", () => {
  const found = withTaints(group, nodeWith("k", 100), [option("k", 60)], { nowMs });
  assert.deepEqual(types(found), ["NodeTaintDetected", "NodeTaintReplacing"]);
});
item("B66.3", () => {
  const off = withTaints(both, nodeWith("k", 100), [option("k", -1)], { nowMs });
  assert.deepEqual(types(off), []);
  const on = withTaints(off, nodeWith("k", 100), [option("k", 60)], { nowMs });
  assert.deepEqual(types(on), ["NodeTaintDetected", "NodeTaintReplacing"]);
});
item("B66.4", () => {
  const options = [option("*", 60), option("k", -1)];
  assert.deepEqual(types(withTaints(group, nodeWith("k", 100), options, { nowMs })), []);
  assert.equal(types(withTaints(group, nodeWith("other", 100), options, { nowMs })).length, 2);
});
item("B66.5", () => {
  assert.deepEqual(
    types(withTaints(group, nodeWith("other", 100), [option("k", 60)], { nowMs })),
    [],
  );
});
item("B66.6", () =>
  assert.deepEqual(types(withTaints(both, bare, [option("k", 60)], { nowMs })), []),
);

/** Conditions of the first storage group after a change. */
function conditions(
  change: (scene: Scene, id: string) => void,
  spec: Partial<ClusterSpec> = {},
): string[] {
  const scene = new Scene(spec);
  const [id = ""] = scene.ids("storage");
  change(scene, id);
  return scene.conditions(id);
}
function groupAfter(change: (scene: Scene, id: string) => void): Group {
  const scene = new Scene();
  const [id = ""] = scene.ids("storage");
  change(scene, id);
  const one = scene.draft().groups.find((each) => each.processGroupID === id);
  assert.ok(one);
  return one as Group;
}
const annotate = (scene: Scene, id: string, key: string, value: string): void => {
  const { metadata } = scene.pod(id);
  metadata.annotations = { ...metadata.annotations, [key]: value };
};
const edit = (more: object) => (scene: Scene, id: string) => {
  for (const process of scene.processes(id)) Object.assign(process, more);
};
const busy = { ...defaultPlanOptions, highRunLoopBusyThreshold: 0.9 };

table(
  {
    "B67.1": [
      (scene, id) => {
        scene.pods.delete(scene.podName(id));
      },
      ["MissingPod"],
    ],
    "B67.2": [() => {}, []],
    "B67.4": [
      (scene, id) => {
        scene.exclude(id);
      },
      ["ProcessIsMarkedAsExcluded"],
    ],
    "B67.5": [edit({ messages: [{ name: "io_error" }] }), ["ProcessHasIOError"]],
    "B67.6": [
      (scene, id) => {
        scene.rest = { options: busy };
        edit({ run_loop_busy: 0.95 })(scene, id);
      },
      ["ProcessHasHighRunLoopBusy"],
    ],
    "B67.7": [
      (scene, id) => {
        scene.rest = { options: busy };
        edit({ run_loop_busy: 0.5 })(scene, id);
      },
      [],
    ],
    "B67.8": [edit({ command_line: "fdbserver" }), ["IncorrectCommandLine"]],
    "B67.9": [
      (scene, id) => {
        scene.mark(id);
        edit({ command_line: "fdbserver" })(scene, id);
      },
      ["IncorrectCommandLine"],
    ],
    "B67.10": [edit({ command_line: "" }), ["MissingProcesses"]],
    "B67.11": [edit({ version: "" }), ["MissingProcesses"]],
    "B67.12": [
      (scene, id) => {
        scene.loseProcesses(id);
      },
      ["MissingProcesses"],
    ],
    "B67.13": [
      (scene) => {
        scene.database.processes = {};
      },
      [],
    ],
    "B67.14": [
      (scene, id) => {
        annotate(scene, id, annotationKeys.lastAppliedSpec, "old");
      },
      ["IncorrectPodSpec"],
    ],
    "B67.15": [
      (scene, id) => {
        scene.pod(id).metadata.labels = { "foundationdb.org/fdb-process-group-id": id };
      },
      ["IncorrectPodMetadata"],
    ],
    "B67.16": [
      (scene, id) => {
        annotate(scene, id, annotationKeys.lastAppliedConfigMap, "old");
      },
      ["IncorrectConfigMap"],
    ],
    "B67.17": [
      (scene, id) => {
        scene.pod(id).metadata.deletionTimestamp = new Date(scene.nowMs - 1_000).toISOString();
      },
      [],
    ],
    "B67.18": [
      (scene, id) => {
        const status = scene.pod(id).status?.containerStatuses?.[0];
        if (status) status.ready = false;
      },
      ["PodFailing"],
    ],
    "B67.19": [
      (scene, id) => {
        scene.pod(id).status = { phase: "Failed" };
      },
      ["PodFailing"],
    ],
    "B67.20": [
      (scene, id) => {
        scene.database.maintenance_zone = scene.group(id).faultDomain ?? "";
        scene.pods.delete(scene.podName(id));
      },
      [],
    ],
    "B67.25": [
      (scene, id) => {
        scene.pod(id).status = { phase: "Pending" };
      },
      ["PodPending"],
    ],
    "B67.27": [
      (scene) => {
        scene.spec({ version: "7.4.5" });
      },
      ["IncorrectCommandLine", "IncorrectSidecarImage"],
    ],
    "B67.29": [
      (scene) => {
        scene.spec({ mainContainer: { imageConfigs: [{ baseImage: "mirror/fdb" }] } });
      },
      ["IncorrectPodSpec", "IncorrectSidecarImage"],
    ],
  } satisfies Record<string, [(scene: Scene, id: string) => void, string[]]>,
  (change: (scene: Scene, id: string) => void, expected: string[]) =>
    assert.deepEqual(conditions(change), expected),
);
item("B67.21", () => {
  const one = groupAfter((scene, id) => scene.spec({ processGroupsToRemove: [id] }));
  assert.ok(one.removalTimestamp !== undefined && one.exclusionSkipped !== true);
});
item("B67.22", () => {
  const one = groupAfter((scene, id) =>
    scene.spec({ processGroupsToRemoveWithoutExclusion: [id] }),
  );
  assert.ok(one.removalTimestamp !== undefined && one.exclusionSkipped === true);
});
item("B67.26", () => {
  const one = groupAfter((scene, id) => {
    scene.mark(id);
    scene.group(id).exclusionTimestamp = "2026-01-01T00:00:00Z";
  });
  assert.equal(one.exclusionTimestamp, undefined);
});
item("B67.28", () => {
  // The image of another type cannot be put into this pod in place: the whole pod is of the wrong kind.
  const all = conditions((scene) => scene.spec({ imageType: "split" }));
  assert.deepEqual(all, ["IncorrectPodSpec"]);
});

item("B68.1", () => {
  const plan = new Scene().plan();
  assert.ok(plan.isReconciled, JSON.stringify(plan.waits));
  assert.equal(plan.status.generations?.reconciled, 1);
});
item("B68.2", () => {
  for (const each of new Scene().draft().groups) assert.match(each.faultDomain ?? "", /^node-\d+$/);
});
item("B68.3", () => {
  const draft = new Scene({ storageServersPerPod: 2 }).draft();
  for (const each of draft.groups) assert.match(each.faultDomain ?? "", /^node-\d+$/);
});
item("B68.4", () => {
  assert.equal(new Scene().draft().status.hasListenIPsForAllPods, true);
  const draft = new Scene({ useExplicitListenAddress: false }).draft();
  assert.equal(draft.status.hasListenIPsForAllPods, false);
});

const versions = (...list: string[]): DatabaseStatus => ({
  cluster: {
    processes: Object.fromEntries(list.map((version, index) => [String(index), { version }])),
  },
});
item("B69.1", () => {
  const list = [...Array.from({ length: 9 }, () => "7.3.63"), "7.3.50"];
  assert.equal(runningVersionOf(versions(...list), "7.3.50"), "7.3.63");
});
item("B69.2", () =>
  assert.equal(runningVersionOf(versions("7.3.63", "7.3.63"), "7.1.1"), "7.3.63"),
);
item("B69.3", () =>
  assert.equal(runningVersionOf(versions("7.3.63", "7.1.57"), "7.1.57"), "7.3.63"),
);
item("B69.4", () => assert.equal(runningVersionOf(versions(), "7.1.57"), "7.1.57"));
const zone = (processes: NonNullable<DatabaseStatus["cluster"]>["processes"]): string | undefined =>
  zoneOfProcessGroup(
    processesByGroup({ cluster: { processes: processes ?? {} } }, undefined),
    "storage-1",
  );
const at = (zoneid: string, uptime_seconds: number) => ({
  locality: { instance_id: "storage-1", zoneid },
  uptime_seconds,
});
item("B69.5", () => assert.equal(zone({ a: at("old", 900), b: at("new", 5) }), "new"));
item("B69.6", () => {
  assert.equal(
    zone({ a: at("known", 900), b: { locality: { instance_id: "storage-1" } } }),
    "known",
  );
});
item("B69.7", () => {
  const server = (n: number) => ({
    locality: { instance_id: "storage-1", process_id: `storage-1-${n}`, zoneid: "z" },
  });
  assert.equal(zone({ a: server(1), b: server(2) }), "z");
});
item("B69.8", () => assert.equal(zone({}), undefined));

/** Groups that are found when the status has forgotten one; only some of its objects are left. */
function discovered(
  left: ("pod" | "pvc" | "service")[],
  change: (scene: Scene, id: string) => void = () => {},
) {
  const scene = new Scene({ routing: { publicIPSource: "service" } });
  const [id = ""] = scene.ids("storage");
  const name = scene.podName(id);
  change(scene, id);
  if (!left.includes("pod")) scene.pods.delete(name);
  if (!left.includes("pvc")) scene.pvcs.delete(`${name}-data`);
  if (!left.includes("service")) scene.services.delete(name);
  const known = scene.groups.filter((each) => each.processGroupID !== id);
  const all = discoverGroups(scene.snapshot(), known);
  return all.filter((each) => each.processGroupID === id).length;
}
item("B69.9", () => assert.equal(discovered(["pod"]), 1));
item("B69.10", () => assert.equal(discovered(["pvc"]), 1));
item("B69.11", () => assert.equal(discovered(["service"]), 1));
item("B69.12", () => {
  const count = discovered(["pod"], (scene, id) => {
    scene.pod(id).metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  });
  assert.equal(count, 0);
});
item("B69.13", () => {
  const count = discovered(["service"], (scene, id) => {
    const service = scene.services.get(scene.podName(id));
    if (service) service.metadata.labels = {};
  });
  assert.equal(count, 0);
});
item("B69.14", () => assert.equal(discovered(["pod", "pvc", "service"]), 1));
