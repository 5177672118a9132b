// Entries of the ConfigMap for unified pods of another IP family.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { familyEntries, familyEntryOf, withFamilyEntry } from "./family-entry.ts";
import { annotationKeys } from "./labels.ts";
import { normalCluster } from "./normalise.ts";
import { pod } from "./pod.ts";
import { podSpecHash } from "./spec-hash.ts";

const metadata = { name: "sample", namespace: "default" };
const group = { processGroupID: "log-1", processClass: "log" };

function madePod(imageType: "split" | "unified"): Stored<Pod> {
  const spec = { version: "7.3.63", imageType };
  const built = pod(normalCluster({ apiVersion: "v1", kind: "x", metadata, spec }), group);
  assert.ok(built.ok);
  return built.value as Stored<Pod>;
}

test("[B79] each family has its entries beside those of the resource, for unified pods alone", () => {
  const spec = {
    version: "7.3.63",
    processCounts: { storage: 1, log: 1, stateless: -1, cluster_controller: -1 },
    routing: { podIPFamily: 6 as const },
  };
  const status = { imageTypes: ["split", "unified"], connectionString: "a:b@[fd00::1]:4501" };
  const required = { requiredAddresses: { nonTLS: true } };
  const cluster = {
    apiVersion: "v1",
    kind: "x",
    metadata,
    spec,
    status: { ...status, ...required },
  };
  const entries = familyEntries(normalCluster(cluster), [4]);
  assert.deepEqual(
    Object.keys(entries).filter((key) => !key.endsWith("-json-ipv4")),
    [],
  );
  assert.match(entries["fdbmonitor-conf-log-json-ipv4"] ?? "", /"ipFamily":4/);
  assert.doesNotMatch(JSON.stringify(entries), /"ipFamily":6/);
});

test("[B79] a unified pod reads the entry of its family, and its hash says so", () => {
  const made = madePod("unified");
  const kept = withFamilyEntry(made, 4);
  assert.equal(familyEntryOf(made), undefined);
  assert.equal(familyEntryOf(kept), 4);
  const hash = kept.metadata.annotations?.[annotationKeys.lastAppliedSpec];
  assert.equal(hash, podSpecHash(kept.spec ?? { containers: [] }));
  assert.notEqual(hash, made.metadata.annotations?.[annotationKeys.lastAppliedSpec]);
});

test("[B79] a split pod reads what all of its kind read", () => {
  const made = madePod("split");
  assert.equal(withFamilyEntry(made, 6), made);
});
