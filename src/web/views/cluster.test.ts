// One cluster in full: what its views say of one thing is the same. Rules: spec/web.md [WEB5], [WEB7].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  group,
  minutesAgo,
  nowMs,
  sceneCluster,
  sceneNode,
  scenePod,
  sceneStatus,
  waiting,
} from "../../../test/web/cluster-scene.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import type { Stored } from "../../kube/resource.ts";
import { countsOf } from "../../plugin/status/group-counts.ts";
import type { ClusterModel } from "../view-model.ts";
import { clusterModel } from "./cluster.ts";
import type { ClusterInput } from "./cluster.ts";

function modelOf(
  cluster: ClusterInput["explained"]["cluster"],
  more: Partial<ClusterInput["explained"]> = {},
  others: Partial<ClusterInput> = {},
): ClusterModel {
  return clusterModel(
    {
      explained: {
        ...{ cluster, pods: [], pvcs: [], events: [], nodes: [sceneNode("n1", "a")], unread: [] },
        ...more,
      },
      answer: { kind: "silent", why: "nobody asked" },
      backups: { backups: [], restores: [], events: [], podsOf: () => [] },
      timeLine: { sinceMs: nowMs, entries: {} },
      figures: { timesMs: [], series: {} },
      ...others,
    },
    nowMs,
  );
}

const ran = { faultDomain: "n1" };
const leaving = { ...ran, removalTimestamp: minutesAgo(1) };

test("[WEB5] [WEB7] now counts the process groups that the map shows, as what it shows them", () => {
  const unready = {
    status: { phase: "Running", conditions: [{ type: "Ready", status: "False" }] },
  };
  const cluster = sceneCluster([
    ...[group("log-1", [], ran), group("log-2", ["IncorrectCommandLine"], ran)],
    // Only the pod tells that it fails.
    ...[group("log-3", [], ran), group("log-4", ["MissingPod"], ran)],
    ...[group("log-5", ["MissingProcesses"], leaving), group("log-6", [], leaving)],
  ]);
  const ids = ["log-1", "log-2", "log-3", "log-5", "log-6"];
  const pods = ids.map((id) => scenePod(id, "n1", id === "log-3" ? unready : {}));
  const { now, map } = modelOf(cluster, { pods });
  const states = Object.groupBy(Object.values(map.tiles), ({ state }) => state);
  const { wanted: _, missing: _missing, total, ...counts } = countsOf(now.classes);
  assert.deepEqual(counts, { well: 1, outdated: 1, failing: 2, starting: 1, leaving: 1 });
  for (const [state, count] of Object.entries(counts)) {
    assert.equal(states[state as "well"]?.length, count, state);
  }
  const sum = Object.values(counts).reduce((all, count) => all + count, 0);
  assert.deepEqual([sum, total], [6, 6]);
});

test("[VW13] [WEB5] [WEB7] what the database says since the status was written is said of now and on the map", () => {
  const since = group("storage-2", ["MissingProcesses", "MissingPod"]);
  const cluster = sceneCluster([group("storage-1", [], leaving), since], {
    generations: { needsShrink: 3 },
    conditions: [{ type: "Available", status: "True" }] as never,
  });
  const pod = scenePod("storage-2", "n1");
  const made = { ...pod, metadata: { ...pod.metadata, creationTimestamp: minutesAgo(3) } };
  const status = sceneStatus({
    "storage-1": { roles: ["storage"] },
    "storage-2": { roles: [] },
  });
  Object.assign(status.cluster?.processes?.["storage-1"] ?? {}, { excluded: true });
  const pods = [scenePod("storage-1", "n1"), made];
  const answer = { answer: { kind: "answered", status, pod: "" } } as const;
  const told = (model: ClusterModel): object => ({
    ahead: model.now.ahead.map(({ detail }) => detail),
    tiles: Object.values(model.map.tiles).map(({ troubles }) => troubles[0]),
    troubles: model.now.processGroups.troubles.map(({ condition }) => condition),
  });
  assert.deepEqual(told(modelOf(cluster, { pods }, answer)), {
    ahead: ["it is excluded"],
    tiles: ["leaves, excluded", "its process is up"],
    troubles: ["MarkedForRemoval"],
  });
  assert.deepEqual(told(modelOf(cluster, { pods })), {
    ahead: ["it is not excluded yet"],
    tiles: ["leaves, not excluded yet", "pod starts"],
    troubles: ["MissingProcesses", "MarkedForRemoval"],
  });
});

const backup = (name: string, blockedBy: readonly object[]): Stored<FoundationDBBackup> =>
  ({
    ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBBackup" },
    metadata: { name, namespace: "default", uid: name },
    spec: { clusterName: "sample", version: "7.3.63" },
    status: { conditions: [{ type: "Reconciled", status: "True" }], blockedBy },
  }) as unknown as Stored<FoundationDBBackup>;

test("[WEB5] now names what backups wait for that need somebody, and no others", () => {
  const all = [
    backup("a", [waiting("BackupUrlInvalid", { remedy: "Mend it." })]),
    backup("b", [waiting("PodPending", { since: minutesAgo(0) })]),
  ];
  const backups = { backups: all, restores: [], events: [], podsOf: () => [] };
  const { now } = modelOf(sceneCluster([]), {}, { backups });
  assert.deepEqual(
    now.backupWaits.map(({ backup: name, reason, remedy }) => [name, reason, remedy]),
    [["a", "BackupUrlInvalid", "Mend it."]],
  );
  assert.match(now.meanings["BackupUrlInvalid"] ?? "", /\w+ \w+/);
});
