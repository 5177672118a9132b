// Labels, owners and services.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { containsMetadata, metadataFor, selectorLabels } from "./labels.ts";
import { headlessService, processGroupService } from "./service.ts";
import { clusterWith, storage1 } from "../../test/fixtures/sample-cluster.ts";

const labels = {
  matchLabels: { app: "db" },
  resourceLabels: { team: "x" },
  processGroupIDLabels: ["id-a", "id-b"],
  processClassLabels: ["class-a", "class-b"],
};

test("[B15] objects carry all labels and the operator's win", () => {
  const base = { labels: { own: "1", app: "wrong" }, annotations: { note: "n" } };
  const metadata = metadataFor(clusterWith({ labels }), "pod", storage1, base);
  assert.deepEqual(metadata.labels, {
    own: "1",
    app: "db",
    "class-a": "storage",
    "class-b": "storage",
    "id-a": "storage-1",
    "id-b": "storage-1",
    team: "x",
  });
  assert.deepEqual(metadata.annotations, { note: "n" });
  assert.deepEqual(metadataFor(clusterWith(), "c", {}).labels, {
    "foundationdb.org/fdb-cluster-name": "sample",
  });
});

test("[B16] objects are found by match labels and the first class or id label", () => {
  assert.deepEqual(selectorLabels(clusterWith({ labels }), storage1), {
    app: "db",
    "class-a": "storage",
    "id-a": "storage-1",
  });
});

test("[B17] the cluster owns its objects", () => {
  assert.deepEqual(metadataFor(clusterWith(), "x", {}).ownerReferences, [
    {
      apiVersion: "apps.foundationdb.org/v1beta2",
      kind: "FoundationDBCluster",
      name: "sample",
      uid: "uid-1",
      controller: true,
    },
  ]);
});

test("[B18] metadata must contain what is wanted and may hold more", () => {
  const wanted = { labels: { a: "1" }, annotations: { b: "2" } };
  assert.ok(containsMetadata({ labels: { a: "1", z: "9" }, annotations: { b: "2" } }, wanted));
  assert.ok(!containsMetadata({ labels: { a: "1" } }, wanted));
  assert.ok(!containsMetadata({ ...wanted, labels: { a: "0" } }, wanted));
});

test("[B19] a headless service exists where names are needed", () => {
  const spec = headlessService(clusterWith())?.spec;
  assert.deepEqual([spec?.clusterIP, spec?.ports], ["None", undefined]);
  assert.equal(
    headlessService(clusterWith({ routing: { useDNSInClusterFile: false } })),
    undefined,
  );
  const routing = { useDNSInClusterFile: false, headlessService: true };
  assert.equal(headlessService(clusterWith({ routing }))?.metadata.name, "sample");
});

test("[B20] a service per process group has a pair of ports per storage server", () => {
  const routing = { publicIPSource: "service" } as const;
  const service = processGroupService(clusterWith({ routing, storageServersPerPod: 2 }), storage1);
  assert.deepEqual(service?.spec?.ports, [
    { name: "tls", port: 4500 },
    { name: "non-tls", port: 4501 },
    { name: "tls-2", port: 4502 },
    { name: "non-tls-2", port: 4503 },
  ]);
  assert.equal(service?.metadata.name, "sample-storage-1");
  assert.equal(service?.spec?.publishNotReadyAddresses, true);
  assert.equal(processGroupService(clusterWith(), storage1), undefined);
});

test("[B21] services follow the IP family 6", () => {
  const routing = { publicIPSource: "service", podIPFamily: 6 } as const;
  const cluster = clusterWith({ routing });
  assert.deepEqual(headlessService(cluster)?.spec?.ipFamilies, ["IPv6"]);
  assert.deepEqual(processGroupService(cluster, storage1)?.spec?.ipFamilies, ["IPv6"]);
});
