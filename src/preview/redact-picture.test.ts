// Rules PIC10, PIC13: what the operator itself writes into pods stays, what a person adds does not.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec, FoundationDBCluster } from "../api/cluster.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { desiredOf } from "./picture-hashes.ts";
import { redactPicture } from "./redact-picture.ts";

function clusterWith(spec: Partial<ClusterSpec>): FoundationDBCluster {
  return {
    apiVersion: "apps.foundationdb.org/v1beta2",
    kind: "FoundationDBCluster",
    metadata: { name: "sample", namespace: "default", uid: "u-1" },
    spec: { version: "7.3.63", ...spec },
    status: {
      connectionString: "sample:abc@10.1.0.1:4501",
      processGroups: [{ processGroupID: "storage-1", processClass: "storage" }],
    },
  } as FoundationDBCluster;
}

function redactedPod(cluster: FoundationDBCluster): { before: Stored<Pod>; after: Stored<Pod> } {
  const [desired] = desiredOf(cluster);
  const [group] = cluster.status?.processGroups ?? [];
  assert.ok(desired !== undefined && group !== undefined);
  const before = desired.pod(group)?.object;
  assert.ok(before !== undefined);
  const { picture } = redactPicture({
    ...{ format: 1, takenAt: "2026-01-01T00:00:00Z", cluster, objects: [before] },
    ...{ otherRequests: [], databaseStatus: undefined, left: [], versions: { plugin: "1" } },
  });
  return { before, after: picture.objects[0] as Stored<Pod> };
}

const shapes: [string, Partial<ClusterSpec>][] = [
  ["unified", {}],
  ["split", { imageType: "split" }],
  ["localities of nodes", { localities: [{ key: "data_hall", topologyKey: "example.com/hall" }] }],
  ["several servers", { storageServersPerPod: 2, imageType: "split" }],
  ["certificates", { trustedCAs: ["-----BEGIN CERTIFICATE-----"], imageType: "split" }],
];

for (const [title, spec] of shapes) {
  test(`[PIC13] what the operator writes into a pod stays (${title})`, () => {
    const { before, after } = redactedPod(clusterWith(spec));
    assert.deepEqual(after, before);
  });
}

test("[PIC10] a variable, an argument and an annotation of a person are replaced; equal ones equally", () => {
  const env = [
    { name: "MODE", value: "true" },
    { name: "AGAIN", value: "true" },
    { name: "WHERE", value: "hall-7" },
  ];
  const { after } = redactedPod(
    clusterWith({
      localities: [{ key: "data_hall", envValue: "WHERE" }],
      processes: {
        general: {
          podTemplate: {
            metadata: {
              annotations: { "example.com/note": "some note", "k8s.io/kept": "kept note" },
            },
            spec: {
              containers: [
                { name: "foundationdb", env },
                { name: "x", args: ["-v", "y"] },
              ],
            },
          },
        },
      },
    }),
  );
  const [main, other] = after.spec?.containers ?? [];
  assert.deepEqual(main?.env?.slice(0, 3), [
    { name: "MODE", value: "REDACTED2" },
    { name: "AGAIN", value: "REDACTED2" },
    { name: "WHERE", value: "hall-7" },
  ]);
  assert.deepEqual(other?.args, ["-v", "REDACTED3"]);
  assert.equal(after.metadata.annotations?.["example.com/note"], "REDACTED1");
  assert.equal(after.metadata.annotations?.["k8s.io/kept"], "kept note");
});

test("[PIC12] of what other programs are told, only the program and the names of flags stay", () => {
  const { after } = redactedPod(
    clusterWith({
      processes: {
        general: {
          podTemplate: {
            spec: {
              containers: [
                {
                  name: "x",
                  command: ["/bin/tool", "first-secret"],
                  args: ["second-secret", "-pthird-secret", "--flag=fourth-secret", "--on", "-v"],
                },
              ],
            },
          },
        },
      },
    }),
  );
  const { command = [], args = [] } = after.spec?.containers.find(({ name }) => name === "x") ?? {};
  assert.equal(command[0], "/bin/tool");
  assert.doesNotMatch(JSON.stringify([command, args]), /secret/);
  assert.deepEqual(
    args.map((text) => text.replace(/REDACTED\d+/, "")),
    ["", "-p", "--flag=", "--on", "-v"],
  );
});
