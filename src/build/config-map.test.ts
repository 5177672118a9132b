// The ConfigMap, its hash, and volume claims.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { configMap, dynamicConfHash, dynamicConfHashOf, monitorConfKey } from "./config-map.ts";
import { volumeClaim } from "./volume-claim.ts";
import { clusterWith, stateless1, storage1 } from "../../test/fixtures/sample-cluster.ts";

test("[B41] the ConfigMap holds what pods need", () => {
  const { data, metadata } = configMap(clusterWith({ trustedCAs: ["A", "B"] }));
  assert.equal(metadata.name, "sample-config");
  assert.deepEqual(Object.keys(data ?? {}).toSorted(), [
    "ca-file",
    "cluster-file",
    "fdbmonitor-conf-log-json",
    "fdbmonitor-conf-stateless-json",
    "fdbmonitor-conf-storage-json",
    "running-version",
  ]);
  assert.equal(data?.["ca-file"], "A\nB");
});

test("[B42] all image types and server counts in use have an entry", () => {
  const cluster = clusterWith(
    { logServersPerPod: 2 },
    { imageTypes: ["split", "unified"], storageServersPerDisk: [1, 3] },
  );
  const keys = Object.keys(configMap(cluster).data ?? {}).filter((key) => /storage|log/.test(key));
  assert.deepEqual(keys.toSorted(), [
    "fdbmonitor-conf-log-density-2",
    "fdbmonitor-conf-log-json",
    "fdbmonitor-conf-storage",
    "fdbmonitor-conf-storage-density-3",
    "fdbmonitor-conf-storage-json",
  ]);
});

test("[B43] data of the resource wins", () => {
  const given = {
    metadata: { labels: { own: "1" }, name: "ignored" },
    data: { "cluster-file": "mine", "sidecar-conf": "x" },
  };
  const { data, metadata } = configMap(clusterWith({ configMap: given }));
  assert.deepEqual([data?.["cluster-file"], data?.["sidecar-conf"]], ["mine", "x"]);
  assert.deepEqual([metadata.name, metadata.labels?.["own"]], ["sample-config", "1"]);
});

test("[B44] a pod's hash covers its own entries only", () => {
  const data = configMap(clusterWith()).data ?? {};
  const hash = dynamicConfHash(data, "storage", "unified", 1);
  assert.equal(hash, dynamicConfHashOf(clusterWith(), data, "storage"));
  const changed = (key: string): boolean =>
    dynamicConfHash({ ...data, [key]: "changed" }, "storage", "unified", 1) !== hash;
  assert.ok(["cluster-file", "running-version", "ca-file", "sidecar-conf"].every(changed));
  assert.ok(changed("fdbmonitor-conf-storage-json"));
  assert.ok(!changed("fdbmonitor-conf-log-json") && !changed("something-else"));
});

test("[B45] entries are named by class, image type and density", () => {
  assert.equal(monitorConfKey("log", "unified", 3), "fdbmonitor-conf-log-json");
  assert.equal(monitorConfKey("log", "split", 1), "fdbmonitor-conf-log");
  assert.equal(monitorConfKey("log", "split", 3), "fdbmonitor-conf-log-density-3");
});

test("[B46] only classes that keep data have a claim", () => {
  assert.equal(volumeClaim(clusterWith(), stateless1), undefined);
  assert.equal(volumeClaim(clusterWith(), storage1)?.metadata.name, "sample-storage-1-data");
});

function claimWith(volumeClaimTemplate: object): ReturnType<typeof volumeClaim> {
  const template = { metadata: {}, ...volumeClaimTemplate };
  return volumeClaim(
    clusterWith({ processes: { storage: { volumeClaimTemplate: template } } }),
    storage1,
  );
}

test("[B47] a claim has defaults for access and size", () => {
  const claim = volumeClaim(clusterWith(), storage1);
  assert.deepEqual(claim?.spec, {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "128G" } },
  });
  const spec = { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "1Ti" } } };
  assert.deepEqual(claimWith({ spec })?.spec, spec);
  const zero = claimWith({ spec: { resources: { requests: { storage: "0" } } } });
  assert.equal(zero?.spec?.resources?.requests?.["storage"], "128G");
});

test("[B48] a claim carries its hash and the metadata of its template", () => {
  const claim = claimWith({
    metadata: { name: "ignored", labels: { a: "1" }, annotations: { b: "2" } },
  });
  assert.equal(claim?.metadata.labels?.["a"], "1");
  assert.equal(claim?.metadata.annotations?.["b"], "2");
  assert.match(
    claim?.metadata.annotations?.["foundationdb.org/last-applied-spec"] ?? "",
    /^[0-9a-f]{64}$/,
  );
  assert.equal(claim?.metadata.name, "sample-storage-1-data");
});
