// The built-in kinds that the server offers, with the facts that differ between them. Their own rules are
// in the rules-*.ts files.
import type { JsonObject } from "./json.ts";
import type { Kind, KindRules } from "./kind.ts";
import { builtInNode } from "./schema-node.ts";
import { configMapRules, secretRules } from "./rules-config.ts";
import { crdRules } from "./rules-crd.ts";
import { disruptionBudgetRules } from "./rules-disruption-budget.ts";
import { coreEventRules, eventsGroupRules } from "./rules-event.ts";
import { fromCoreEvent, toCoreEvent } from "./event-conversion.ts";
import {
  clusterRoleBindingRules,
  leaseRules,
  roleBindingRules,
  roleRules,
  storageClassRules,
} from "./rules-small.ts";
import { networkPolicyRules } from "./rules-network-policy.ts";
import { namespaceRules } from "./rules-namespace.ts";
import { nodeRules } from "./rules-node.ts";
import { podRules } from "./rules-pod.ts";
import { serviceRules } from "./rules-service.ts";
import { volumeClaimRules, volumeRules } from "./rules-volume.ts";
import { deploymentRules, replicaSetRules } from "./rules-workload.ts";

interface KindFacts {
  group: string;
  kind: string;
  plural: string;
  definition: string;
  shortNames?: string[];
  categories?: string[];
  isClusterScoped?: true;
  hasStatus?: true;
  hasGeneration?: true;
  needsResourceVersion?: true;
  returnsDeleted?: true;
  nameForm?: Kind["nameForm"];
  rules?: KindRules;
  storageKey?: string;
  storageApiVersion?: string;
  fromStored?: (object: JsonObject) => JsonObject;
  toStored?: (object: JsonObject) => JsonObject;
}

const core = "io.k8s.api.core.v1";
const rbacGroup = "rbac.authorization.k8s.io";
const rbac = "io.k8s.api.rbac.v1";

const facts: readonly KindFacts[] = [
  {
    ...{ group: "", kind: "ConfigMap", plural: "configmaps", definition: `${core}.ConfigMap` },
    ...{ shortNames: ["cm"], rules: configMapRules },
  },
  {
    ...{ group: "", kind: "Endpoints", plural: "endpoints", definition: `${core}.Endpoints` },
    shortNames: ["ep"],
  },
  {
    ...{ group: "", kind: "Event", plural: "events", definition: `${core}.Event` },
    ...{ shortNames: ["ev"], nameForm: "path", rules: coreEventRules },
  },
  {
    ...{ group: "", kind: "Namespace", plural: "namespaces", definition: `${core}.Namespace` },
    ...{ shortNames: ["ns"], isClusterScoped: true, hasStatus: true, returnsDeleted: true },
    ...{ nameForm: "label", rules: namespaceRules },
  },
  {
    ...{ group: "", kind: "Node", plural: "nodes", definition: `${core}.Node` },
    ...{ shortNames: ["no"], isClusterScoped: true, hasStatus: true, rules: nodeRules },
  },
  {
    ...{ group: "", kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims" },
    ...{ definition: `${core}.PersistentVolumeClaim`, shortNames: ["pvc"], hasStatus: true },
    ...{ returnsDeleted: true, rules: volumeClaimRules },
  },
  {
    ...{ group: "", kind: "PersistentVolume", plural: "persistentvolumes" },
    ...{ definition: `${core}.PersistentVolume`, shortNames: ["pv"], isClusterScoped: true },
    ...{ hasStatus: true, returnsDeleted: true, rules: volumeRules },
  },
  {
    ...{ group: "", kind: "Pod", plural: "pods", definition: `${core}.Pod`, shortNames: ["po"] },
    ...{ categories: ["all"], hasStatus: true, hasGeneration: true, returnsDeleted: true },
    rules: podRules,
  },
  {
    ...{ group: "", kind: "Secret", plural: "secrets", definition: `${core}.Secret` },
    rules: secretRules,
  },
  {
    ...{ group: "", kind: "ServiceAccount", plural: "serviceaccounts", shortNames: ["sa"] },
    ...{ definition: `${core}.ServiceAccount`, returnsDeleted: true },
  },
  {
    ...{ group: "", kind: "Service", plural: "services", definition: `${core}.Service` },
    ...{ shortNames: ["svc"], categories: ["all"], hasStatus: true, returnsDeleted: true },
    ...{ nameForm: "label", rules: serviceRules },
  },
  {
    ...{ group: "apps", kind: "Deployment", plural: "deployments", shortNames: ["deploy"] },
    ...{ definition: "io.k8s.api.apps.v1.Deployment", categories: ["all"], hasStatus: true },
    ...{ hasGeneration: true, rules: deploymentRules },
  },
  {
    ...{ group: "apps", kind: "ReplicaSet", plural: "replicasets", shortNames: ["rs"] },
    ...{ definition: "io.k8s.api.apps.v1.ReplicaSet", categories: ["all"], hasStatus: true },
    ...{ hasGeneration: true, rules: replicaSetRules },
  },
  {
    ...{ group: "coordination.k8s.io", kind: "Lease", plural: "leases" },
    ...{ definition: "io.k8s.api.coordination.v1.Lease", needsResourceVersion: true },
    rules: leaseRules,
  },
  {
    ...{ group: "events.k8s.io", kind: "Event", plural: "events", shortNames: ["ev"] },
    ...{ definition: "io.k8s.api.events.v1.Event", rules: eventsGroupRules },
    ...{ storageKey: "/events", storageApiVersion: "v1", nameForm: "path" },
    ...{ fromStored: fromCoreEvent, toStored: toCoreEvent },
  },
  {
    ...{ group: "networking.k8s.io", kind: "NetworkPolicy", plural: "networkpolicies" },
    ...{ definition: "io.k8s.api.networking.v1.NetworkPolicy", shortNames: ["netpol"] },
    ...{ hasGeneration: true, rules: networkPolicyRules },
  },
  {
    ...{ group: "policy", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets" },
    ...{ definition: "io.k8s.api.policy.v1.PodDisruptionBudget", shortNames: ["pdb"] },
    ...{ hasStatus: true, hasGeneration: true, needsResourceVersion: true },
    rules: disruptionBudgetRules,
  },
  {
    ...{ group: rbacGroup, kind: "ClusterRoleBinding", plural: "clusterrolebindings" },
    ...{ definition: `${rbac}.ClusterRoleBinding`, isClusterScoped: true, nameForm: "path" },
    rules: clusterRoleBindingRules,
  },
  {
    ...{ group: rbacGroup, kind: "ClusterRole", plural: "clusterroles" },
    ...{ definition: `${rbac}.ClusterRole`, isClusterScoped: true, nameForm: "path" },
    rules: roleRules,
  },
  {
    ...{ group: rbacGroup, kind: "RoleBinding", plural: "rolebindings" },
    ...{ definition: `${rbac}.RoleBinding`, nameForm: "path", rules: roleBindingRules },
  },
  {
    ...{ group: rbacGroup, kind: "Role", plural: "roles", definition: `${rbac}.Role` },
    ...{ nameForm: "path", rules: roleRules },
  },
  {
    ...{ group: "storage.k8s.io", kind: "StorageClass", plural: "storageclasses" },
    ...{ definition: "io.k8s.api.storage.v1.StorageClass", shortNames: ["sc"] },
    ...{ isClusterScoped: true, returnsDeleted: true, rules: storageClassRules },
  },
  {
    ...{ group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" },
    ...{ plural: "customresourcedefinitions", shortNames: ["crd", "crds"] },
    definition: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
    ...{ categories: ["api-extensions"], isClusterScoped: true, hasStatus: true },
    ...{ hasGeneration: true, needsResourceVersion: true, returnsDeleted: true, rules: crdRules },
  },
];

const kindsCreatedOnUpdate = new Set([
  ...["Service", "Endpoints", "Event", "Lease", "Role", "RoleBinding", "ClusterRole"],
  "ClusterRoleBinding",
]);

export function builtInKinds(): Kind[] {
  return facts.map((fact) => ({
    group: fact.group,
    version: "v1",
    kind: fact.kind,
    listKind: `${fact.kind}List`,
    plural: fact.plural,
    singular: fact.kind.toLowerCase(),
    shortNames: fact.shortNames ?? [],
    categories: fact.categories ?? [],
    isNamespaced: fact.isClusterScoped !== true,
    hasStatus: fact.hasStatus === true,
    hasGeneration: fact.hasGeneration === true,
    isCustom: false,
    allowsUnconditionalUpdate: fact.needsResourceVersion !== true,
    createsOnUpdate: kindsCreatedOnUpdate.has(fact.kind),
    returnsDeleted: fact.returnsDeleted === true,
    nameForm: fact.nameForm ?? "subdomain",
    storageKey: fact.storageKey ?? `${fact.group}/${fact.plural}`,
    storageApiVersion: fact.storageApiVersion ?? (fact.group === "" ? "v1" : `${fact.group}/v1`),
    node: builtInNode(fact.definition),
    rules: fact.rules ?? {},
    definitionName: fact.definition,
    ...(fact.fromStored === undefined ? {} : { fromStored: fact.fromStored }),
    ...(fact.toStored === undefined ? {} : { toStored: fact.toStored }),
  }));
}
