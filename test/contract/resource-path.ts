// Where the resources that the contract cases use live in the API.

const groupVersions: Readonly<Record<string, string>> = {
  deployments: "apis/apps/v1",
  replicasets: "apis/apps/v1",
  leases: "apis/coordination.k8s.io/v1",
  networkpolicies: "apis/networking.k8s.io/v1",
  poddisruptionbudgets: "apis/policy/v1",
  roles: "apis/rbac.authorization.k8s.io/v1",
  rolebindings: "apis/rbac.authorization.k8s.io/v1",
  clusterroles: "apis/rbac.authorization.k8s.io/v1",
  clusterrolebindings: "apis/rbac.authorization.k8s.io/v1",
  storageclasses: "apis/storage.k8s.io/v1",
  customresourcedefinitions: "apis/apiextensions.k8s.io/v1",
};
const clusterScoped = new Set([
  "namespaces",
  "nodes",
  "persistentvolumes",
  "storageclasses",
  "clusterroles",
  "clusterrolebindings",
  "customresourcedefinitions",
]);

/** `plural` may carry a group and version before a slash, as in "example.com/v1/widgets". */
export function resourcePath(
  plural: string,
  namespace: string,
  name?: string,
  subresource?: string,
): string {
  const [resource = "", version, group] = plural.split("/").toReversed();
  const root =
    group === undefined ? (groupVersions[resource] ?? "api/v1") : `apis/${group}/${version}`;
  const scope = clusterScoped.has(resource) ? [] : ["namespaces", namespace];
  const parts = [root, ...scope, resource, name, subresource];
  return `/${parts.filter((part) => part !== undefined).join("/")}`;
}
