// The configuration of packed processes where others learn their zone from their node. Rules: spec/packing.md [PACK27].
import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterWith } from "../../test/fixtures/sample-cluster.ts";
import { configMap, dynamicConfHashOf } from "./config-map.ts";
import { pod } from "./pod.ts";

const rack = { localities: [{ key: "zone", topologyKey: "example.org/rack" }] };
const packed = {
  processClass: "storage",
  processGroupID: "storage-7",
  distributionKey: "storage-0",
};
const unpacked = { processClass: "storage", processGroupID: "storage-8" };

function confKey(cluster: ReturnType<typeof clusterWith>, subject: typeof unpacked): string {
  const built = pod(cluster, subject);
  assert.ok(built.ok);
  const volume = built.value.spec?.volumes?.find(({ name }) => name === "config-map");
  return volume?.configMap?.items?.find(({ path }) => path === "config.json")?.key ?? "";
}

test("[PACK27] with a zone from a label of the node, packed pods have a configuration of their own", () => {
  const cluster = clusterWith(rack);
  const data = configMap(cluster).data ?? {};
  const ours = data[confKey(cluster, packed)] ?? "";
  const theirs = data[confKey(cluster, unpacked)] ?? "";
  assert.match(ours, /locality_zoneid="},\{"type":"Environment","source":"FDB_ZONE_ID"/);
  assert.match(
    theirs,
    /locality_zoneid="},\{"type":"Environment","source":"NODE_LABEL_EXAMPLE_ORG_RACK"/,
  );
  const hash = (isPacked: boolean) => dynamicConfHashOf(cluster, data, "storage", isPacked);
  assert.notEqual(hash(true), hash(false));
  const affinity = pod(cluster, packed);
  assert.ok(affinity.ok);
  const far = affinity.value.spec?.affinity?.podAntiAffinity;
  const [term] = far?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  assert.equal(term?.topologyKey, "example.org/rack");
});

test("[PACK27] otherwise all pods of a class share one", () => {
  const cluster = clusterWith();
  assert.equal(confKey(cluster, packed), confKey(cluster, unpacked));
  const names = Object.keys(configMap(cluster).data ?? {});
  assert.ok(names.every((name) => !name.endsWith("-packed")));
});
