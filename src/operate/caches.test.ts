// Tests of which clusters an object belongs to.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { clusterKeysOf } from "./caches.ts";

test("[OP1] an object belongs to its owner and to the cluster that its label names", () => {
  const owner = (kind: string, name: string) => ({ apiVersion: "x/v1", kind, name, uid: name });
  const namespace = "default";
  const labels = { "foundationdb.org/fdb-cluster-name": "labelled" };
  const keys = (metadata: object): string[] =>
    clusterKeysOf({ metadata: { namespace, ...metadata } });
  assert.deepEqual(keys({}), []);
  assert.deepEqual(keys({ labels }), ["default/labelled"]);
  assert.deepEqual(keys({ ownerReferences: [owner("FoundationDBCluster", "owner")] }), [
    "default/owner",
  ]);
  assert.deepEqual(
    keys({ labels, ownerReferences: [owner("FoundationDBCluster", "owner"), owner("Job", "j")] }),
    ["default/owner", "default/labelled"],
  );
  assert.deepEqual(keys({ labels, ownerReferences: [owner("FoundationDBCluster", "labelled")] }), [
    "default/labelled",
  ]);
});
