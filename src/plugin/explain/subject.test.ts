// How people name a cluster, a backup or a restore. Rules: spec/explain.md [E25].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { subjectOf } from "./subject.ts";

test("[E25] every name of a kind that kubectl knows or prints is understood", () => {
  const texts = {
    cluster: ["sample", "fdb/sample", "cluster/sample", "foundationdbcluster/sample"],
    backup: [
      "backup/sample",
      "backups/sample",
      "fdbbackup/sample",
      "FoundationDBBackup/sample",
      "foundationdbbackup.apps.foundationdb.org/sample",
      "foundationdbbackups.v1beta2.apps.foundationdb.org/sample",
    ],
    restore: ["restore/sample", "fdbrestore/sample", "foundationdbrestores/sample"],
  };
  for (const [kind, names] of Object.entries(texts)) {
    for (const text of names) assert.deepEqual(subjectOf(text), { kind, name: "sample" }, text);
  }
  assert.deepEqual(subjectOf("nightly", "backup"), { kind: "backup", name: "nightly" });
});

test("[E25] another kind, or no name, is a wrong argument", () => {
  for (const text of ["backup/", "/nightly", "pod/x", "backup/a/b", "fdbbackup.example.com/x"]) {
    assert.throws(() => subjectOf(text), { exitCode: 2, message: /backup\/NAME or restore\/NAME/ });
  }
});
