// Where pods keep their data, and whether a pod that is made anew would find it.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Memory } from "../../env/memory.ts";
import type { Pod, Volume, VolumeMount } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { dataPlaceChange, isDataLeftBehind, withUsualDataPlace } from "./data-place.ts";

const memory = new Memory();
const claim: Volume = {
  name: "data",
  persistentVolumeClaim: { claimName: "sample-storage-1-data" },
};
const emptyDir: Volume = { name: "data", emptyDir: {} };
const usual: VolumeMount = { name: "data", mountPath: "/var/fdb/data" };
const other: Volume = { name: "fast", emptyDir: {} };

function podOf(volumes: Volume[], volumeMounts: VolumeMount[]): Stored<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "sample-storage-1" },
    spec: { volumes, containers: [{ name: "foundationdb", volumeMounts }] },
  };
}

const asMade = podOf([claim], [usual]);
const cases: [string, Stored<Pod>, Stored<Pod>, RegExp | undefined][] = [
  ["nothing changed", asMade, podOf([other, claim], [usual]), undefined],
  ["a directory that goes with the pod", asMade, podOf([emptyDir], [usual]), /another place/],
  [
    "another claim",
    asMade,
    podOf([{ ...claim, persistentVolumeClaim: { claimName: "mine" } }], [usual]),
    /another place/,
  ],
  [
    "another directory",
    asMade,
    podOf([claim], [{ ...usual, mountPath: "/data" }]),
    /another place/,
  ],
  ["a part of the volume", asMade, podOf([claim], [{ ...usual, subPath: "a" }]), /another place/],
  [
    "a volume over it",
    asMade,
    podOf([claim, other], [usual, { name: "fast", mountPath: "/var/fdb/data/" }]),
    /another place/,
  ],
  [
    "a volume beside it",
    asMade,
    podOf([claim, other], [usual, { name: "fast", mountPath: "/var/fdb/data2" }]),
    undefined,
  ],
  [
    "its data goes with the pod",
    podOf([emptyDir], [usual]),
    podOf([emptyDir, other], [usual]),
    /in its pod alone/,
  ],
];
for (const [title, pod, wanted, expected] of cases) {
  test(`[R100] ${title}: ${expected === undefined ? "made anew in place" : "replaced"}`, () => {
    const found = dataPlaceChange({ memory }, "storage", pod, wanted);
    if (expected === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", expected);
    assert.equal(dataPlaceChange({ memory }, "stateless", pod, wanted), undefined);
  });
}

test("[R100] a class without a volume that may get data keeps it in its pod", () => {
  const [before, after] = [podOf([emptyDir], [usual]), podOf([emptyDir, other], [usual])];
  assert.match(dataPlaceChange({ memory }, "unset", before, after) ?? "", /in its pod alone/);
  assert.equal(dataPlaceChange({ memory }, "cluster_controller", before, after), undefined);
});

test("[R101] data on a claim is left behind by a pod that keeps its data elsewhere", () => {
  const group = { processGroupID: "storage-1", processClass: "storage", volumeClaim: "uid" };
  assert.equal(isDataLeftBehind(group, asMade), false);
  assert.equal(isDataLeftBehind(group, podOf([emptyDir], [usual])), true);
  assert.equal(isDataLeftBehind(group, podOf([claim], [{ ...usual, mountPath: "/data" }])), true);
  const { volumeClaim: _, ...fresh } = group;
  assert.equal(isDataLeftBehind(fresh, podOf([emptyDir], [usual])), false);
});

test("[R101] the rest of a template stays when its place for the data is taken out", () => {
  const { spec } = podOf([emptyDir, other], [usual, { name: "fast", mountPath: "/fast" }]);
  const processes = { general: { podTemplate: { spec } }, log: { customParameters: ["a=b"] } };
  const found = withUsualDataPlace({ version: "7.3.63", processes });
  const template = found.processes?.["general"]?.podTemplate?.spec;
  assert.deepEqual(template?.volumes, [other]);
  assert.deepEqual(template?.containers[0]?.volumeMounts, [{ name: "fast", mountPath: "/fast" }]);
  assert.deepEqual(found.processes?.["log"], processes.log);
});
