// Objects that the Go operator left on a real API server: our builders make the same ones, so nothing would be restarted.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import type { FoundationDBCluster } from "../../src/api/cluster.ts";
import { configMap, dynamicConfHashOf } from "../../src/build/config-map.ts";
import { containsMetadata } from "../../src/build/labels.ts";
import { normalCluster } from "../../src/build/normalise.ts";
import { livePodMetadata } from "../../src/build/pod-metadata.ts";
import { pod } from "../../src/build/pod.ts";
import type { PodSubject } from "../../src/build/pod-subject.ts";
import { volumeClaim } from "../../src/build/volume-claim.ts";
import type { ConfigMap, PersistentVolumeClaim, Pod } from "../../src/kube/generated/types.ts";

const hashKey = "foundationdb.org/last-applied-spec";
const configHashKey = "foundationdb.org/last-applied-config-map";

function read(name: string): unknown {
  return parse(
    readFileSync(join(import.meta.dirname, "../data/go-operator", `${name}.yaml`), "utf8"),
  );
}

function itemsOf<T>(name: string): T[] {
  return (read(name) as { items: T[] }).items;
}

function subjectOf(object: Pod | PersistentVolumeClaim): PodSubject {
  const { labels = {} } = object.metadata;
  return {
    processClass: labels["foundationdb.org/fdb-process-class"] ?? "",
    processGroupID: labels["foundationdb.org/fdb-process-group-id"] ?? "",
  };
}

const cluster = normalCluster(read("cluster") as FoundationDBCluster);

test("[B78] pods have the hashes and the metadata that we would give them", () => {
  const pods = itemsOf<Pod>("pods");
  const data = configMap(cluster).data ?? {};
  assert.equal(pods.length, 15);
  for (const live of pods) {
    const subject = subjectOf(live);
    const made = pod(cluster, subject);
    assert.ok(made.ok);
    const annotations = live.metadata.annotations ?? {};
    assert.equal(made.value.metadata.name, live.metadata.name);
    assert.equal(made.value.metadata.annotations?.[hashKey], annotations[hashKey]);
    assert.equal(
      dynamicConfHashOf(cluster, data, subject.processClass),
      annotations[configHashKey],
    );
    assert.ok(containsMetadata(live.metadata, livePodMetadata(cluster, subject, live)));
    assert.deepEqual(made.value.metadata.ownerReferences, live.metadata.ownerReferences);
  }
});

test("[B78] volume claims have the hashes and the metadata that we would give them", () => {
  const claims = itemsOf<PersistentVolumeClaim>("pvcs");
  assert.ok(claims.length > 0);
  for (const live of claims) {
    const made = volumeClaim(cluster, subjectOf(live));
    assert.equal(made?.metadata.name, live.metadata.name);
    assert.equal(made?.metadata.annotations?.[hashKey], live.metadata.annotations?.[hashKey]);
    assert.ok(containsMetadata(live.metadata, made?.metadata ?? {}));
  }
});

test("[B78] the ConfigMap is the one that we would write", () => {
  const [live] = itemsOf<ConfigMap>("configmaps").filter(
    ({ metadata }) => metadata.name === "tri-config",
  );
  assert.deepEqual(configMap(cluster).data, live?.data);
});
