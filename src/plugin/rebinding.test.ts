// Which process group a volume belonged to, and what keeps it from being given back.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { PersistentVolume } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { claimFor, subjectOfClaim, volumeRefusal } from "./rebinding.ts";

const cluster = {
  apiVersion: "apps.foundationdb.org/v1beta2",
  kind: "FoundationDBCluster",
  metadata: { name: "sample", namespace: "shop", uid: "u1" },
  spec: { version: "7.3.63", adopt: { volumes: { matchLabels: { team: "orders" } } } },
} satisfies FoundationDBCluster;

const names: readonly (readonly [string, string, string | undefined])[] = [
  ["sample-storage-12-data", "", "storage-12"],
  ["sample-log-9-data", "", "log-9"],
  ["sample-storage-12-data", "west", "west-storage-12"],
  ["sample-stateless-12-data", "", undefined],
  ["other-storage-12-data", "", undefined],
  ["sample-two-storage-12-data", "", undefined],
  ["sample-storage-12", "", undefined],
  ["sample-storage-99999999999999999999-data", "", undefined],
];

for (const [name, processGroupIDPrefix, id] of names) {
  test(`[ADO9] the claim ${name} with prefix "${processGroupIDPrefix}" is of ${id ?? "nobody"}`, () => {
    const given = { ...cluster, spec: { ...cluster.spec, processGroupIDPrefix } };
    assert.equal(subjectOfClaim(given, name)?.processGroupID, id);
  });
}

const subject = { processClass: "storage", processGroupID: "storage-12" };

function volume(spec: object = {}, metadata: object = {}): Stored<PersistentVolume> {
  return {
    ...{ apiVersion: "v1", kind: "PersistentVolume" },
    metadata: { name: "pvc-1", uid: "v1", ...metadata },
    spec: {
      capacity: { storage: "128G" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "disks",
      persistentVolumeReclaimPolicy: "Retain",
      ...spec,
    },
  };
}

test("[ADO9] the claim is as the operator would make it, for that volume, without an owner", () => {
  const claim = claimFor(cluster, subject, volume());
  assert.deepEqual(claim?.metadata.labels, {
    team: "orders",
    "foundationdb.org/fdb-cluster-name": "sample",
    "foundationdb.org/fdb-process-class": "storage",
    "foundationdb.org/fdb-process-group-id": "storage-12",
  });
  assert.equal(claim?.metadata.name, "sample-storage-12-data");
  assert.equal(claim?.metadata.ownerReferences, undefined);
  assert.equal(claim?.spec?.volumeName, "pvc-1");
  assert.equal(claim?.spec?.storageClassName, "disks");
});

const refusals: readonly (readonly [string, object, object, RegExp | undefined])[] = [
  ["a volume that was kept", {}, {}, undefined],
  ["one that goes", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }, /it is being deleted/],
  ["policy Recycle", { persistentVolumeReclaimPolicy: "Recycle" }, {}, /set it to Retain first/],
  ["policy Delete", { persistentVolumeReclaimPolicy: "Delete" }, {}, /set it to Retain first/],
  ["too small", { capacity: { storage: "1G" } }, {}, /it has 1G, and the resource asks for 128G/],
];

for (const [title, spec, metadata, text] of refusals) {
  test(`[ADO11] ${title}: ${text === undefined ? "given back" : "refused"}`, () => {
    const given = volume(spec, metadata);
    const claim = claimFor(cluster, subject, given);
    assert.ok(claim);
    const found = volumeRefusal(given, claim, undefined);
    if (text === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", text);
  });
}

test("[ADO10] [ADO11] a claim of the name is taken only when it waits for this volume", () => {
  const claim = claimFor(cluster, subject, volume());
  assert.ok(claim);
  const waitingFor = (volumeName: string | undefined) =>
    volumeRefusal(volume(), claim, { ...claim, spec: { ...claim.spec, volumeName } });
  assert.equal(waitingFor("pvc-1"), undefined);
  assert.match(waitingFor("pvc-2") ?? "", /with the volume pvc-2/);
  assert.match(waitingFor(undefined) ?? "", /waits for another volume/);
});
