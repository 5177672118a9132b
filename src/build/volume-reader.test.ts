// The pod that reads a volume: as little as it needs, and what it says when it has ended.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { PersistentVolumeClaim, Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { claimOfReader, isVolumeReader, readingOf, volumeReader } from "./volume-reader.ts";

const cluster = {
  ...{ apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBCluster" },
  metadata: { name: "sample", namespace: "shop", uid: "u1" },
  spec: { version: "7.3.63" },
};
const data = { name: "data", persistentVolumeClaim: { claimName: "sample-log-1-data" } };
const server = {
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: { name: "sample-log-1", labels: { "foundationdb.org/fdb-cluster-name": "sample" } },
  spec: {
    serviceAccountName: "powerful",
    hostname: "sample-log-1",
    nodeSelector: { disk: "fast" },
    securityContext: { runAsUser: 4059 },
    volumes: [data, { name: "certificates", secret: { secretName: "secret" } }],
    initContainers: [{ name: "init", image: "init" }],
    containers: [
      { name: "other", image: "other" },
      {
        name: "foundationdb",
        image: "foundationdb:7.3.63",
        env: [{ name: "A", value: "b" }],
        securityContext: { readOnlyRootFilesystem: true },
        volumeMounts: [
          { name: "data", mountPath: "/var/fdb/data", subPath: "deep" },
          { name: "certificates", mountPath: "/var/certificates" },
        ],
      },
    ],
  },
} as unknown as Stored<Pod>;

function claim(name: string): Stored<PersistentVolumeClaim> {
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name, uid: "c1" } };
}

test("[ADO13] a reader has one container that mounts one volume to read only, and no secret, token or label of the cluster", () => {
  const reader = volumeReader(cluster, claim("sample-log-1-data"), server);
  assert.ok(reader !== undefined && isVolumeReader(reader) && !isVolumeReader(server));
  assert.deepEqual(claimOfReader(reader), { name: "sample-log-1-data", uid: "c1" });
  assert.equal(reader.metadata.name, "sample-log-1-data-reader-u1");
  assert.deepEqual(reader.metadata.labels, { "foundationdb.org/volume-reader-for": "u1" });
  const { containers = [], ...rest } = reader.spec ?? {};
  assert.deepEqual(rest, {
    nodeSelector: { disk: "fast" },
    securityContext: { runAsUser: 4059 },
    volumes: [data],
    restartPolicy: "Never",
    activeDeadlineSeconds: 300,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
  });
  const [container, ...others] = containers;
  assert.deepEqual(others, []);
  assert.equal(container?.image, "foundationdb:7.3.63");
  assert.equal(container?.env, undefined);
  assert.deepEqual(container?.volumeMounts, [
    { name: "data", mountPath: "/var/fdb/data", subPath: "deep", readOnly: true },
  ]);
  assert.equal(volumeReader(cluster, claim("another-claim"), server), undefined);
});

test("[ADO13] [ADO14] what a reader has found", () => {
  const reading = (status: object, metadata: object = {}) =>
    readingOf({ metadata: { name: "r", ...metadata }, status } as Stored<Pod>);
  const name = "foundationdb";
  const ended = (exitCode: number, message?: string) => [
    { name: "injected", state: { running: {} } },
    { name, state: { terminated: { exitCode, message, reason: "Error" } } },
  ];
  const cases = [
    [
      { phase: "Succeeded", containerStatuses: ended(0, "a:b@c:1\n") },
      { kind: "read", text: "a:b@c:1" },
    ],
    [
      // As servers write it.
      { phase: "Succeeded", containerStatuses: ended(0, "# DO NOT EDIT!\n# This\na:b@c:1\n") },
      { kind: "read", text: "a:b@c:1" },
    ],
    [
      { phase: "Succeeded", containerStatuses: ended(0) },
      { kind: "read", text: "" },
    ],
    [
      { phase: "Failed", containerStatuses: ended(1, "no file\n") },
      { kind: "failed", why: "no file" },
    ],
    [
      { phase: "Failed", reason: "DeadlineExceeded" },
      { kind: "failed", why: "DeadlineExceeded" },
    ],
    [{ phase: "Failed" }, { kind: "failed", why: "its pod failed" }],
    [
      {
        phase: "Pending",
        containerStatuses: [{ name, state: { waiting: { reason: "ErrImagePull" } } }],
      },
      { kind: "pending", why: "ErrImagePull" },
    ],
    [{}, { kind: "pending", why: "Pending" }],
    [
      {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }],
      },
      { kind: "pending", why: "Unschedulable" },
    ],
  ] as const;
  for (const [status, expected] of cases) assert.deepEqual(reading(status), expected);
  const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  assert.equal(reading({ phase: "Succeeded" }, going).kind, "pending");
});
