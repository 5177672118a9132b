// What a file makes of a resource when it is applied. Rule: spec/preview.md [PV13].
import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ClusterSpec, FoundationDBCluster } from "../api/cluster.ts";
import { applied, withPlaceholders } from "./apply.ts";

const head = { apiVersion: "apps.foundationdb.org/v1beta2", kind: "FoundationDBCluster" };

function clusterOf(
  spec: object,
  metadata: FoundationDBCluster["metadata"] = {},
): FoundationDBCluster {
  return {
    ...head,
    metadata: { name: "sample", namespace: "default", ...metadata },
    spec: spec as ClusterSpec,
  };
}

const key = "kubectl.kubernetes.io/last-applied-configuration";

/** As it was applied last, with what others have set since. */
function liveOf(file: FoundationDBCluster, others: object): FoundationDBCluster {
  const annotations = { [key]: JSON.stringify(file), note: "kept" };
  return clusterOf({ ...file.spec, ...others }, { annotations, labels: { team: "data", x: "1" } });
}

test("[PV13] what the file has no more is taken out, what others have set stays", () => {
  const first = clusterOf(
    {
      version: "7.3.63",
      processCounts: { storage: 3, log: 3 },
      buggify: { noSchedule: ["log-1"] },
      processGroupsToRemove: ["storage-1"],
    },
    { labels: { team: "data" } },
  );
  const live = liveOf(first, { processGroupsToRemove: ["storage-1"], skip: true });
  const second = clusterOf({ version: "7.3.79", processCounts: { storage: 5, stateless: 4 } });
  const { cluster, warnings } = applied(live, second);
  assert.deepEqual(cluster.spec, {
    version: "7.3.79",
    processCounts: { storage: 5, stateless: 4 },
    skip: true,
  });
  assert.deepEqual(cluster.metadata.labels, { x: "1" });
  assert.equal(cluster.metadata.annotations?.["note"], "kept");
  assert.deepEqual(warnings, []);
});

test("[PV13] lists are taken whole, a null takes a field out, another form replaces it", () => {
  const first = clusterOf({ version: "7.3.63", processGroupsToRemove: ["a-1", "b-2"] });
  const live = liveOf(first, { skip: true, routing: { headlessService: true } });
  const { cluster } = applied(
    live,
    clusterOf({ version: "7.3.63", processGroupsToRemove: ["c-3"], skip: null, routing: {} }),
  );
  assert.deepEqual(cluster.spec, {
    version: "7.3.63",
    processGroupsToRemove: ["c-3"],
    routing: { headlessService: true },
  });
});

test("[PV13] without a last applied configuration nothing is taken out, and that is said", () => {
  const live = clusterOf({ version: "7.3.63", skip: true });
  for (const text of [undefined, "no JSON"]) {
    const annotations: Record<string, string> = text === undefined ? {} : { [key]: text };
    const { cluster, warnings } = applied(
      { ...live, metadata: { ...live.metadata, annotations } },
      clusterOf({ version: "7.3.79" }),
    );
    assert.deepEqual(cluster.spec, { version: "7.3.79", skip: true });
    assert.match(warnings.join(), /no last-applied-configuration .* stays as it is/);
  }
});

test("[PV13] values that are placeholders in a picture count as unchanged", () => {
  const withEnv = (value: string, parameter: string, other = "plain") => ({
    processes: {
      general: {
        podTemplate: {
          spec: {
            containers: [
              {
                name: "foundationdb",
                env: [
                  { name: "NEW", value: "x" },
                  { name: "TOKEN", value },
                ],
              },
            ],
          },
        },
        customParameters: ["knob_a=1", parameter],
      },
    },
    version: other,
  });
  const known = withEnv("REDACTED1", "tls_password=REDACTED2");
  known.processes.general.podTemplate.spec.containers[0]?.env.shift();
  const { value, count } = withPlaceholders(withEnv("hunter2", "tls_password=abc", "else"), known);
  assert.deepEqual(value, withEnv("REDACTED1", "tls_password=REDACTED2", "else"));
  assert.equal(count, 2);
});
