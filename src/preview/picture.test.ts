// Rule PV1: a picture from outside is checked before it is used.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { problemText, readPicture } from "./picture.ts";

const whole = {
  format: 1,
  takenAt: "2026-11-15T09:00:00Z",
  cluster: {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { namespace: "default", name: "sample" },
    spec: { version: "7.3.79" },
  },
  objects: [{ apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } }],
  otherRequests: [{ node: "node-1", cpu: "500m", memory: "1Gi", pods: 3 }],
  databaseStatus: undefined,
  left: [{ what: "storage classes", why: "forbidden" }],
  versions: { plugin: "1.0.0" },
};

test("[PV1] a whole picture is taken as it is", () => {
  assert.deepEqual(readPicture(whole), { picture: whole });
});

const cases: [string, unknown, string[]][] = [
  ["no picture at all", [], ["picture is []: take the picture again"]],
  [
    "a format of later",
    { ...whole, format: 2 },
    ["format is 2: use a newer kubectl-fdb, which knows this format"],
  ],
  [
    "a time that is none",
    { ...whole, takenAt: "yesterday" },
    [
      'takenAt is "yesterday": write the time of the picture as RFC 3339, as in 2026-01-31T12:00:00Z',
    ],
  ],
  [
    "another kind",
    { ...whole, cluster: { ...whole.cluster, kind: "Pod" } },
    ['cluster.kind is "Pod": a picture is of one FoundationDBCluster'],
  ],
  [
    "an object without a name, and a list that is missing",
    { ...whole, objects: [{ apiVersion: "v1", kind: "Node" }], left: undefined },
    [
      "objects[0].metadata.name is missing: store the object as the API server gave it",
      "left is missing: take the picture again",
    ],
  ],
  [
    "requests without a unit",
    { ...whole, otherRequests: [{ node: "node-1", cpu: 1, memory: "1Gi", pods: 1 }] },
    [
      'otherRequests[0] is {"node":"node-1","cpu":1,"memory":"1Gi","pods":1}: give node, cpu and memory as text and pods as a number',
    ],
  ],
];

for (const [title, value, expected] of cases) {
  test(`[PV1] a picture with ${title} is refused with field, value and remedy`, () => {
    const reading = readPicture(value);
    assert.ok("problems" in reading);
    assert.deepEqual(reading.problems.map(problemText), expected);
  });
}
