// The pods of the golden vectors, run: their monitors must start exactly the command lines that
// the vectors expect.
import assert from "node:assert/strict";
import { test } from "node:test";
import { standardImages } from "../../src/images/standard-images.ts";
import type { PodSpec } from "../../src/kube/generated/types.ts";
import { namespaces } from "../../src/kube/resource.ts";
import { readMonitorConf } from "../../src/images/fdbmonitor-conf.ts";
import {
  parseMonitorConfiguration,
  resolveArguments,
} from "../../src/images/monitor-configuration.ts";
import { renderMonitorConf } from "../../src/images/sidecar-substitutions.ts";
import { startCluster } from "./harness.ts";
import { createSample, podCases } from "./sample-pods.ts";
import type { PodCase } from "./sample-pods.ts";

const cases = podCases().filter((one) => one.expectedCommandLines !== null);

/**
 * An empty monitor configuration starts nothing; the vectors hold what the operator would look for.
 */
function expectedOf(one: PodCase): string[] {
  return one.name === "split/empty-monitor-conf" ? [] : (one.expectedCommandLines ?? []);
}

test("[KUBELET65] the monitors resolve the vectors' configurations to the expected command lines", () => {
  assert.ok(cases.length >= 30);
  for (const one of cases) {
    const spec = JSON.parse(one.podSpecJSONThatIsHashed) as PodSpec;
    assert.deepEqual(resolveCommandLines(one, spec), expectedOf(one), one.name);
  }
});

function resolveCommandLines(one: PodCase, spec: PodSpec): string[] {
  const items = spec.volumes?.find(({ name }) => name === "config-map")?.configMap?.items ?? [];
  const key = items.find(({ path }) => /^(config\.json|fdbmonitor\.conf)$/.test(path))?.key ?? "";
  const text = one.configMapData[key] ?? "";
  const substitutions = one.substitutions ?? {};
  if (!text.startsWith("{")) {
    const servers = readMonitorConf(renderMonitorConf(text, substitutions));
    return servers.map(({ command, args }) => [command, ...args].join(" "));
  }
  const configuration = parseMonitorConfiguration(text);
  assert.ok("value" in configuration);
  const args = spec.containers.find(({ name }) => name === "foundationdb")?.args ?? [];
  const count = args.includes("--process-count")
    ? Number(args[args.indexOf("--process-count") + 1])
    : 1;
  return Array.from({ length: count }, (_, index) => {
    const resolved = resolveArguments(configuration.value, index + 1, substitutions);
    assert.ok("value" in resolved, one.name);
    return [`${substitutions["BINARY_DIR"]}/fdbserver`, ...resolved.value].join(" ");
  });
}

/**
 * The operator writes the service's address when the service has one; the vectors' services have
 * none.
 */
const annotations = { "foundationdb.org/public-ip": "10.0.0.7" };

// The substitutions of the fault domain cases are not those that their own pods would produce.
for (const one of cases.filter(({ name }) => !name.includes("fault-domain"))) {
  test(`[KUBELET65] the pod ${one.name} runs the expected command lines`, async () => {
    const aliases = { "reg.example/fdb:build-1": "foundationdb/fdb-kubernetes-monitor:7.3.63" };
    const cluster = await startCluster({
      nodeCount: 1,
      nodeLabels: { disk: "ssd" },
      images: standardImages(aliases),
      assignAddresses: () => ["10.0.0.7"],
    });
    const metadata = { name: "ns" };
    await cluster.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
    await createSample(cluster, one, { namespace: "ns", annotations });
    await cluster.advance(30);
    assert.deepEqual(cluster.running(), expectedOf(one));
    cluster.stop();
  });
}
