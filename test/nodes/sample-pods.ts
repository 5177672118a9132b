// Pods of the golden vectors put into a test cluster, with the ConfigMap and the claims that they
// need.
import { readFileSync } from "node:fs";
import type { Pod, PodSpec } from "../../src/kube/generated/types.ts";
import { configMaps, persistentVolumeClaims } from "../../src/kube/resource.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { Cluster } from "./harness.ts";

export interface PodCase {
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

export function podCases(): PodCase[] {
  return (JSON.parse(readFileSync(file, "utf8")) as { podCases: PodCase[] }).podCases;
}

export function podCase(name: string): PodCase {
  const found = podCases().find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no vector ${name}`);
  return found;
}

export interface SampleOptions {
  namespace?: string;
  podName?: string;
  annotations?: Record<string, string>;
  hasConfigMap?: boolean;
  change?: (spec: PodSpec) => void;
}

export async function createSample(
  cluster: Cluster,
  one: PodCase,
  options: SampleOptions = {},
): Promise<Stored<Pod>> {
  const { namespace = "default", podName = one.podName, hasConfigMap = true } = options;
  const spec = JSON.parse(one.podSpecJSONThatIsHashed) as PodSpec;
  for (const volume of spec.volumes ?? []) {
    const name = volume.configMap?.name;
    if (name !== undefined && hasConfigMap) {
      await cluster.client.create(configMaps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace, name },
        data: one.configMapData,
      });
    }
    if (volume.persistentVolumeClaim !== undefined) {
      await createClaim(cluster, volume.persistentVolumeClaim.claimName, namespace);
    }
  }
  options.change?.(spec);
  const annotations = { ...one.podAnnotations, ...options.annotations };
  const metadata = { namespace, labels: one.podLabels, annotations };
  return cluster.createPod(podName, spec, metadata);
}

export async function createClaim(
  cluster: Cluster,
  name: string,
  namespace = "default",
  storageClassName?: string,
): Promise<void> {
  await cluster.client.create(persistentVolumeClaims, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { namespace, name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  });
}

/** Replaces text in one entry of the sample's ConfigMap. */
export async function editConfigMap(
  cluster: Cluster,
  key: string,
  edit: (text: string) => string,
): Promise<void> {
  const target = { namespace: "default", name: "sample-config" };
  const map = await cluster.client.get(configMaps, target);
  const data = { [key]: edit(map.data?.[key] ?? "") };
  await cluster.client.patch(configMaps, target, { data }, { type: "merge" });
}
