// What a claim loses and gets when it is set aside and given back, and which notes can be read.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  isQuarantined,
  quarantineAnnotation,
  quarantineLabel,
  quarantineNoteOf,
  quarantinePatch,
  restoringPatch,
} from "./quarantine.ts";

const cluster = {
  apiVersion: "apps.foundationdb.org/v1beta2",
  kind: "FoundationDBCluster",
  metadata: { name: "sample", uid: "own" },
  spec: { version: "7.3.63", labels: { matchLabels: { team: "a" }, resourceLabels: { of: "us" } } },
};

const labels = {
  team: "a",
  of: "us",
  "foundationdb.org/fdb-process-group-id": "storage-1",
  "foundationdb.org/fdb-process-class": "storage",
  "foundationdb.org/distribution-key": "k1",
};

const claim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "sample-storage-1-data", uid: "c1", resourceVersion: "7", labels },
  spec: { volumeName: "pv-1" },
};

const order = {
  cluster,
  processGroupID: "storage-1",
  processClass: "storage",
  proof: "certificate" as const,
  seconds: 60,
};

test("[QUA1] [QUA2] only labels of the cluster go, and the note keeps them", () => {
  const { metadata } = quarantinePatch(claim, order, Date.UTC(2026, 0, 2));
  assert.deepEqual(metadata.labels, {
    team: null,
    "foundationdb.org/fdb-process-group-id": null,
    "foundationdb.org/fdb-process-class": null,
    "foundationdb.org/distribution-key": null,
    [quarantineLabel]: "sample",
  });
  assert.equal(metadata.ownerReferences, null);
  assert.deepEqual([metadata.uid, metadata.resourceVersion], ["c1", "7"]);
  const text = metadata.annotations[quarantineAnnotation] ?? "";
  const { of: _, ...taken } = labels;
  assert.deepEqual(
    quarantineNoteOf({ metadata: { annotations: { [quarantineAnnotation]: text } } }),
    {
      ...{ cluster: "own", claim: "c1", volume: "pv-1", since: "2026-01-02T00:00:00Z" },
      ...{
        processGroupID: "storage-1",
        processClass: "storage",
        proof: "certificate",
        seconds: 60,
      },
      labels: taken,
    },
  );
});

test("[QUA11] given back it has the labels that it had, and its owner", () => {
  const { metadata } = quarantinePatch(claim, order, 0);
  const text = metadata.annotations[quarantineAnnotation] ?? "";
  const aside = {
    ...claim,
    metadata: {
      ...claim.metadata,
      labels: { [quarantineLabel]: "sample" },
      annotations: { [quarantineAnnotation]: text },
    },
  };
  assert.equal(isQuarantined(aside), true);
  const note = quarantineNoteOf(aside);
  assert.ok(note);
  const back = restoringPatch(aside, note, cluster);
  const { of: _, ...taken } = labels;
  assert.deepEqual(back.metadata.labels, { ...taken, [quarantineLabel]: null });
  assert.deepEqual(back.metadata.annotations, { [quarantineAnnotation]: null });
  assert.deepEqual(
    back.metadata.ownerReferences?.map(({ uid }) => uid),
    ["own"],
  );
});

test("[QUA4] a note of which a part is missing or wrong is none", () => {
  const { metadata } = quarantinePatch(claim, order, 0);
  const note = JSON.parse(metadata.annotations[quarantineAnnotation] ?? "");
  const read = (value: unknown) =>
    quarantineNoteOf({
      metadata: { annotations: { [quarantineAnnotation]: JSON.stringify(value) } },
    });
  assert.deepEqual(read(note), note);
  for (const key of Object.keys(note)) {
    assert.equal(read({ ...note, [key]: undefined }), undefined, key);
    assert.equal(read({ ...note, [key]: 0 }), undefined, key);
  }
  for (const wrong of [null, [], "text", { ...note, proof: "yes" }, { ...note, since: "soon" }]) {
    assert.equal(read(wrong), undefined);
  }
  assert.equal(quarantineNoteOf({ metadata: {} }), undefined);
});
