// What the operator asks of a cluster, as RBAC rules: the one source of the roles in deploy/. A rule is here because a
// request of the operator needs it; a test on a real API server lists rules that no request used. Rules: spec/deploy.md.

export interface PolicyRule {
  apiGroups: readonly string[];
  resources: readonly string[];
  verbs: readonly string[];
}

const watched = ["list", "watch"] as const;

/** In every namespace that it looks after. Secrets are not among them: pods mount them, the operator never reads them. */
export const namespacedRules: readonly PolicyRule[] = [
  rule("", ["pods"], ["get", ...watched, "create", "patch", "delete"]),
  // Without this the operator works, but makes pods again where it could resize them in place.
  rule("", ["pods/resize"], ["patch"]),
  // What commands of backups and restores print. RBAC cannot limit it to their pods.
  rule("", ["pods/log"], ["get"]),
  rule("", ["persistentvolumeclaims"], ["get", ...watched, "create", "patch", "delete"]),
  rule("", ["services"], ["get", ...watched, "create", "update", "delete"]),
  rule("", ["configmaps"], ["get", ...watched, "create", "update"]),
  rule("", ["events"], ["create", "patch"]),
  // Without this the operator works, but keeps no budget for evictions (automationOptions.drains).
  rule("policy", ["poddisruptionbudgets"], ["get", ...watched, "create", "patch", "delete"]),
  // The same for the policy over the pods of a database (spec.networkPolicy).
  rule("networking.k8s.io", ["networkpolicies"], ["get", ...watched, "create", "patch", "delete"]),
  rule("apps", ["deployments"], ["get", ...watched, "create", "update", "delete"]),
  rule(
    "apps.foundationdb.org",
    ["foundationdbclusters", "foundationdbbackups", "foundationdbrestores"],
    ["get", ...watched, "patch"],
  ),
  rule(
    "apps.foundationdb.org",
    ["foundationdbclusters/status", "foundationdbbackups/status", "foundationdbrestores/status"],
    ["update"],
  ),
];

/**
 * In every namespace that it looks after, and only where somebody asks for it: drills of backups make a cluster and a restore
 * into it, and remove both. RBAC cannot limit it to these.
 */
export const drillRules: readonly PolicyRule[] = [
  rule(
    "apps.foundationdb.org",
    ["foundationdbclusters", "foundationdbrestores"],
    ["create", "delete"],
  ),
];

/** Only in its own namespace: which of its instances may act. */
export const leaseRules: readonly PolicyRule[] = [
  rule("coordination.k8s.io", ["leases"], ["get", "watch", "create", "update"]),
];

/**
 * Nodes and volumes belong to no namespace. Without the first the operator works, but taints, drains and data halls by node label
 * are off; without the second, process groups on drained nodes are replaced also where their volumes could follow.
 */
export const nodeRules: readonly PolicyRule[] = [rule("", ["nodes", "persistentvolumes"], watched)];

/** Of the service account that the database pods use: their monitor tells and reads by annotations of its own pod. */
export const databasePodRules: readonly PolicyRule[] = [
  rule("", ["pods"], ["get", ...watched, "update", "patch"]),
];

/** Of database pods that take a locality from a label of their node. */
export const databaseNodeRules: readonly PolicyRule[] = [rule("", ["nodes"], ["get", ...watched])];

function rule(
  apiGroup: string,
  resources: readonly string[],
  verbs: readonly string[],
): PolicyRule {
  return { apiGroups: [apiGroup], resources, verbs };
}
