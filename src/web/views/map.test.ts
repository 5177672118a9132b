// The map of a cluster and the stories of its tiles. Rules: spec/web.md [WEB7], [WEB8].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  group,
  minutesAgo,
  nowMs,
  sceneClaim,
  sceneCluster,
  sceneEvent,
  sceneNode,
  scenePod,
  sceneStatus,
} from "../../../test/web/cluster-scene.ts";
import { groupState } from "../../model/group-state.ts";
import type { TileState } from "../view-model.ts";
import { mapModel } from "./map.ts";
import type { MapInput } from "./map.ts";
import { storyOf } from "./story.ts";

const lostNode = {
  ...sceneNode("n3", "b"),
  status: { conditions: [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" }] },
} as ReturnType<typeof sceneNode>;
const nodes = [sceneNode("n1", "a"), sceneNode("n2", "b"), lostNode, sceneNode("n10", "b")];

test("[WEB7] Kubernetes zones are columns where the database knows of no wider place, and every group is in one row", () => {
  const model = mapModel({
    cluster: sceneCluster([group("log-1"), group("storage-1"), group("storage-2"), group("log-2")]),
    pods: [scenePod("log-1", "n1"), scenePod("storage-1", "n2"), scenePod("storage-2", "n10")],
    nodes,
  });
  const zone = (name: string): object => ({ kind: "Kubernetes zone", name, notes: [] });
  assert.deepEqual(model.columns, [
    {
      ...{ id: "Kubernetes zone=a", places: [zone("a")] },
      rows: [{ node: "n1", notes: [], groups: ["log-1"] }],
    },
    {
      ...{ id: "Kubernetes zone=b", places: [zone("b")] },
      rows: [
        { node: "n2", notes: [], groups: ["storage-1"] },
        { node: "n10", notes: [], groups: ["storage-2"] },
      ],
    },
    {
      ...{ id: "Kubernetes zone=", places: [zone("")] },
      rows: [{ node: "", notes: [], groups: ["log-2"] }],
    },
  ]);
  const placed = model.columns.flatMap(({ rows }) => rows.flatMap(({ groups }) => groups));
  assert.deepEqual(placed.toSorted(), Object.keys(model.tiles).toSorted());
});

test("[WEB7] places of the database are columns, with their notes, and roles are on the tiles", () => {
  const model = mapModel({
    cluster: sceneCluster([group("log-1"), group("storage-1")]),
    pods: [scenePod("log-1", "n1"), scenePod("storage-1", "n2")],
    status: sceneStatus({
      "log-1": { roles: ["coordinator", "log"], zone: "rack-1" },
      "storage-1": { roles: ["storage"], zone: "rack-2" },
    }),
    nodes: [sceneNode("n1", "a"), { ...sceneNode("n2", "b"), spec: { unschedulable: true } }],
  });
  assert.deepEqual(
    model.columns.map(({ id, rows }) => [id, rows]),
    [
      ["fault domain=rack-1", [{ node: "n1", notes: [], groups: ["log-1"] }]],
      ["fault domain=rack-2", [{ node: "n2", notes: ["cordoned"], groups: ["storage-1"] }]],
    ],
  );
  assert.deepEqual(model.tiles["log-1"], {
    ...{ group: "log-1", processClass: "log", state: "well", roles: ["log"] },
    ...{ isCoordinator: true, processes: 1, troubles: [] },
  });
});

const leaving = { removalTimestamp: minutesAgo(9) };
/** The operator has seen its processes in the database. */
const ran = { faultDomain: "n1" };
const terminating = (id: string): object => ({
  metadata: { ...scenePod(id, "n1").metadata, deletionTimestamp: minutesAgo(1) },
});
const unready = {
  status: { phase: "Running", conditions: [{ type: "Ready", status: "False" }] },
};

const onLostNode = { ...unready, spec: scenePod("storage-1", "n3").spec };

const unscheduled = {
  status: {
    phase: "Pending",
    conditions: [{ type: "PodScheduled", status: "False", message: "0/3 nodes are available." }],
  },
};

const states: readonly [string, readonly string[], object, object | undefined, TileState][] = [
  ["nothing is wrong", [], {}, {}, "well"],
  ["it is ready", ["Ready"], {}, {}, "well"],
  ["an older specification", ["IncorrectPodSpec"], {}, {}, "outdated"],
  ["no pod yet", ["MissingPod"], {}, undefined, "starting"],
  ["a pod that does not start", ["PodPending", "MissingProcesses"], {}, {}, "starting"],
  ["a pod that no node takes", ["PodPending", "MissingProcesses"], {}, unscheduled, "failing"],
  ["its node is drained", ["NodeDraining"], {}, {}, "leaving"],
  ["its node is drained, and it is ill", ["NodeDraining", "PodFailing"], ran, {}, "failing"],
  ["processes are missing", ["MissingProcesses"], ran, {}, "failing"],
  ["processes have never been seen", ["MissingProcesses"], {}, {}, "starting"],
  ["never seen, on a node that is lost", ["MissingProcesses"], {}, onLostNode, "failing"],
  ["outdated and missing", ["IncorrectCommandLine", "MissingProcesses"], ran, {}, "failing"],
  ["it leaves, and never ran", ["MissingProcesses"], leaving, {}, "leaving"],
  ["it leaves, and is gone", ["MissingProcesses"], { ...leaving, ...ran }, {}, "failing"],
  [
    "it leaves, its data is elsewhere, and it is gone",
    ["MissingProcesses"],
    { ...leaving, ...ran, exclusionTimestamp: minutesAgo(3) },
    {},
    "leaving",
  ],
  ["it leaves, and its node is lost", ["MissingProcesses"], leaving, onLostNode, "failing"],
  [
    "it leaves, its data is elsewhere, and its node is lost",
    ["MissingProcesses"],
    { ...leaving, exclusionTimestamp: minutesAgo(3) },
    onLostNode,
    "leaving",
  ],
  ["it is being deleted", ["ResourcesTerminating"], {}, {}, "leaving"],
  ["its pod is gone, which nobody has noted", [], {}, undefined, "starting"],
  ["its pod goes, which nobody has noted", [], {}, terminating("storage-1"), "starting"],
  ["its pod is not ready, which nobody has noted", [], {}, unready, "failing"],
];

for (const [title, conditions, more, pod, state] of states) {
  test(`[WEB7] the state of a tile: ${title}`, () => {
    const pods = pod === undefined ? [] : [scenePod("storage-1", "n1", pod)];
    const cluster = sceneCluster([group("storage-1", conditions, more)]);
    assert.equal(mapModel({ cluster, pods, nodes }).tiles["storage-1"]?.state, state);
  });
}

for (const [title, conditions, more, pod, state] of states) {
  // Where the pod itself says nothing that the status does not say, too.
  if (pod === undefined ? !conditions.includes("MissingPod") : Object.keys(pod).length > 0)
    continue;
  test(`[VW22] [WEB7] the status alone says the same: ${title}`, () => {
    assert.equal(groupState(group("storage-1", conditions, more)), state);
  });
}

/** Made after the operator last wrote its status. */
const madeSince = (id: string, more: object = {}): ReturnType<typeof scenePod> => {
  const pod = scenePod(id, "n1", more);
  return { ...pod, metadata: { ...pod.metadata, creationTimestamp: minutesAgo(3) } };
};

test("[VW9] [WEB7] [WEB8] a pod that was made since the status was written is not told as missing", () => {
  const cluster = sceneCluster([
    group("storage-1", ["MissingProcesses", "MissingPod", "MissingPVC"]),
    group("storage-2", ["MissingPod"]),
    group("storage-3", ["MissingProcesses", "MissingPod"]),
  ]);
  const status = sceneStatus({ "storage-3": { roles: ["storage"] } });
  const pods = [
    madeSince("storage-1", unready),
    scenePod("storage-2", "n1"),
    madeSince("storage-3"),
  ];
  const input = { cluster, pods, nodes, status };
  const { tiles } = mapModel(input);
  const told = Object.values(tiles).map(({ state, troubles }) => [state, ...troubles]);
  assert.deepEqual(told, [
    ["starting", "pod starts", "MissingProcesses", "not ready"],
    ["starting", "MissingPod"],
    ["starting", "its process is up"],
  ]);
  const storyConditions = (id: string): readonly string[] =>
    storyOf({ ...input, pvcs: [], events: [] }, id, nowMs)?.conditions.map(({ type }) => type) ??
    [];
  assert.deepEqual(storyConditions("storage-1"), ["MissingProcesses"]);
  assert.deepEqual(storyConditions("storage-2"), ["MissingPod"]);
});

test("[VW9] [WEB7] [WEB8] what leaves is excluded as soon as the database says so", () => {
  const cluster = sceneCluster([group("storage-1", [], leaving)]);
  const seen = sceneStatus({ "storage-1": { roles: ["storage"] } });
  const [process = {}] = Object.values(seen.cluster?.processes ?? {});
  Object.assign(process, { excluded: true });
  const input = { cluster, pods: [scenePod("storage-1", "n1")], nodes, status: seen };
  assert.deepEqual(mapModel(input).tiles["storage-1"]?.troubles, ["leaves, excluded"]);
  const story = storyOf({ ...input, pvcs: [], events: [] }, "storage-1", nowMs);
  assert.equal(story?.removal?.text, "leaves, excluded");
});

test("[WEB7] a pod that no node takes is told first, and a database that sleeps has no tile in trouble", () => {
  const cluster = sceneCluster([group("storage-1", ["PodPending"])]);
  const stuck = mapModel({ cluster, pods: [scenePod("storage-1", "", unscheduled)], nodes });
  assert.deepEqual(stuck.tiles["storage-1"]?.troubles, [
    ...["no node: 0/3 nodes are available.", "PodPending"],
  ]);
  const { spec, ...rest } = sceneCluster([group("storage-1"), group("log-1")], {
    hibernation: { generation: 3, since: minutesAgo(5) },
  });
  const asleep = mapModel({
    cluster: { ...rest, spec: { ...spec, hibernate: true } },
    pods: [],
    nodes,
  });
  assert.deepEqual(
    Object.values(asleep.tiles).map(({ state }) => state),
    ["asleep", "asleep"],
  );
  assert.deepEqual([asleep.inTrouble, asleep.silent], [0, "the database sleeps"]);
  const placed = { faultDomain: "n7" };
  const waking = mapModel({ cluster: sceneCluster([group("log-1", [], placed)]), pods: [], nodes });
  assert.deepEqual(waking.columns[0]?.places, [{ kind: "last known", name: "n7", notes: [] }]);
});

test("[WEB7] pods that may not be read make no tile look ill, and a foreign process is told", () => {
  const model = mapModel({
    cluster: sceneCluster([group("storage-1")]),
    status: sceneStatus({ "storage-1": { roles: [] }, "storage-9": { roles: ["storage"] } }),
    ...{ pods: undefined, nodes: undefined },
  });
  assert.equal(model.tiles["storage-1"]?.state, "well");
  assert.equal(model.tiles["storage-9"]?.state, "foreign");
});

test("[WEB7] a database that is silent leaves the map, and why there are no roles", () => {
  const input: MapInput = { cluster: sceneCluster([]), pods: [], nodes, silent: "nobody answers" };
  assert.deepEqual(mapModel(input), {
    ...{ total: 0, inTrouble: 0, silent: "nobody answers", columns: [], tiles: {} },
    kubernetesZones: ["a", "b"],
  });
});

test("[WEB8] a story has conditions in words, pod, volume, processes and events", () => {
  const cluster = sceneCluster([
    group("storage-1", ["IncorrectPodSpec"], { ...leaving, exclusionTimestamp: minutesAgo(3) }),
  ]);
  const story = storyOf(
    {
      ...{ cluster, nodes, pods: [scenePod("storage-1", "n1")], pvcs: [sceneClaim("storage-1")] },
      status: sceneStatus({ "storage-1": { roles: ["storage"] } }),
      events: [
        sceneEvent("e1", "Pod/sample-storage-1", "BackOff", { lastTimestamp: minutesAgo(2) }),
        sceneEvent("e2", "PersistentVolumeClaim/sample-storage-1-data", "Resized"),
        sceneEvent("e3", "Pod/sample-storage-12", "BackOff"),
      ],
    },
    "storage-1",
    nowMs,
  );
  assert.deepEqual(story?.conditions, [
    {
      ...{ type: "IncorrectPodSpec", sinceMs: nowMs - 240_000 },
      meaning: "its pod was made from an older specification",
    },
  ]);
  assert.deepEqual(story.removal, { text: "leaves, excluded", sinceMs: nowMs - 540_000 });
  assert.equal(story.state, "leaving");
  assert.deepEqual(story.pod, {
    ...{ name: "sample-storage-1", phase: "Running", isReady: true, createdMs: nowMs - 5_400_000 },
    containers: [
      {
        ...{ name: "foundationdb", image: "fdb:7.3.63", state: "running", restarts: 1 },
        sinceMs: nowMs - 1_200_000,
        lastEnd: { text: "exit code 137 (OOMKilled)", atMs: nowMs - 1_260_000 },
      },
    ],
  });
  assert.deepEqual(story.volume, {
    ...{ claim: "sample-storage-1-data", phase: "Bound", capacity: "128Gi", storageClass: "fast" },
  });
  assert.deepEqual(
    story.processes.map(({ process, roles }) => [process, roles]),
    [["10.1.0.9:9", ["storage"]]],
  );
  assert.deepEqual(
    story.events.map(({ reason }) => reason),
    ["BackOff", "Resized"],
  );
});

test("[WEB8] what runs on a node that is lost is told as what was last heard of", () => {
  const story = storyOf(
    {
      ...{ cluster: sceneCluster([group("storage-1")]), nodes, pvcs: [], events: [] },
      pods: [scenePod("storage-1", "n3")],
    },
    "storage-1",
    nowMs,
  );
  const [container] = story?.pod?.containers ?? [];
  assert.deepEqual([container?.state, container?.sinceMs], ["last heard of as running", undefined]);
});

test("[WEB8] of a group without a pod the rest is told, and of one that nobody knows nothing", () => {
  const input = {
    cluster: sceneCluster([group("log-1", ["MissingPod"])]),
    ...{ pods: [], pvcs: undefined, nodes: undefined, events: undefined },
  };
  const story = storyOf(input, "log-1", nowMs);
  assert.deepEqual([story?.pod, story?.volume, story?.node], [undefined, undefined, ""]);
  assert.equal(storyOf(input, "log-2", nowMs), undefined);
});

test("[WEB7] a database that tells of no process leaves the roles unknown, and a tile tells first what its state stands for", () => {
  const model = mapModel({
    cluster: sceneCluster([group("log-1", ["PodFailing", "PodPending"])]),
    ...{ pods: [scenePod("log-1", "n1")], nodes, status: sceneStatus({}) },
  });
  assert.equal(model.silent, "the database does not serve, and tells of no process");
  const { state, troubles = [] } = model.tiles["log-1"] ?? {};
  assert.deepEqual([state, troubles[0]], ["starting", "PodPending"]);
});
