// The pods of the golden vectors, run: their monitors must start exactly the command lines that the vectors expect.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { PodSpec } from "../../src/kube/generated/types.ts";
import { configMaps, namespaces, persistentVolumeClaims, pods } from "../../src/kube/resource.ts";
import { readMonitorConf } from "../../src/pod/fdbmonitor-conf.ts";
import {
  parseMonitorConfiguration,
  resolveArguments,
} from "../../src/pod/monitor-configuration.ts";
import { renderMonitorConf } from "../../src/pod/sidecar-substitutions.ts";
import { startCluster } from "./harness.ts";

interface PodCase {
  name: string;
  podName: string;
  podSpecJSONThatIsHashed: string;
  configMapData: Record<string, string>;
  podLabels: Record<string, string>;
  podAnnotations: Record<string, string>;
  substitutions: Record<string, string> | null;
  expectedCommandLines: string[] | null;
}

const file = new URL("../data/vectors.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as { podCases: PodCase[] };
const cases = vectors.podCases.filter((one) => one.expectedCommandLines !== null);

/** An empty monitor configuration starts nothing; the vectors hold what the operator would look for. */
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
  const lines: string[] = [];
  if (!text.startsWith("{")) {
    for (const { command, args } of readMonitorConf(renderMonitorConf(text, substitutions))) {
      lines.push([command, ...args].join(" "));
    }
    return lines;
  }
  const configuration = parseMonitorConfiguration(text);
  assert.ok("value" in configuration);
  const args = spec.containers[0]?.args ?? [];
  const count = Number(args[args.indexOf("--process-count") + 1]) || 1;
  for (let number = 1; number <= count; number += 1) {
    const resolved = resolveArguments(configuration.value, number, substitutions);
    assert.ok("value" in resolved, one.name);
    lines.push([`${substitutions["BINARY_DIR"]}/fdbserver`, ...resolved.value].join(" "));
  }
  return lines;
}

// The substitutions of the fault domain cases are not those that their own pods would produce.
const runnable = cases.filter((one) => !one.name.includes("fault-domain"));

for (const one of runnable) {
  test(`[KUBELET65] the pod ${one.name} runs the expected command lines`, async () => {
    const spec = JSON.parse(one.podSpecJSONThatIsHashed) as PodSpec;
    const cluster = await startCluster({
      nodeCount: 1,
      assignAddresses: () => ["10.0.0.7"],
      containerStartMs: { min: 10, max: 10 },
    });
    const namespace = "ns";
    const { client } = cluster;
    const named = (name: string) => ({ namespace, name });
    await client.create(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace },
    });
    for (const volume of spec.volumes ?? []) {
      if (volume.configMap?.name !== undefined) {
        await client.create(configMaps, {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: named(volume.configMap.name),
          data: one.configMapData,
        });
      }
      if (volume.persistentVolumeClaim === undefined) continue;
      await client.create(persistentVolumeClaims, {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: named(volume.persistentVolumeClaim.claimName),
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      });
    }
    await client.create(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...named(one.podName), labels: one.podLabels, annotations: one.podAnnotations },
      spec,
    });
    await cluster.advance(30);
    assert.deepEqual(cluster.running(), expectedOf(one));
    cluster.stop();
  });
}
