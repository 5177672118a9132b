// Applies manifests to a real API server as `kubectl apply --server-side` does.
import type { KubeClient } from "../../src/kube/client.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { resourceOf } from "../../src/kube/resource.ts";
import type { Resource, Stored } from "../../src/kube/resource.ts";

const clusterScoped = new Set([
  "ClusterRole",
  "ClusterRoleBinding",
  "CustomResourceDefinition",
  "Namespace",
  "Node",
]);

export function resourceOfObject(object: KubeObject): Resource<Stored<KubeObject>> {
  const { apiVersion = "", kind = "" } = object;
  const plural = kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`;
  return resourceOf(apiVersion, kind, plural.toLowerCase(), !clusterScoped.has(kind));
}

export async function applyManifests(
  client: KubeClient,
  objects: readonly KubeObject[],
  namespace: string,
  fieldManager = "kubectl",
): Promise<void> {
  for (const object of objects) {
    const resource = resourceOfObject(object);
    const { name = "" } = object.metadata;
    const key = resource.isNamespaced
      ? { namespace: object.metadata.namespace ?? namespace, name }
      : { name };
    await client.patch(resource, key, object, { type: "apply", force: true, fieldManager });
  }
}
