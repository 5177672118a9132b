// Where each kind lives in the API: enough to build its paths, and the type of its objects.
import type { KubeObject } from "./object.ts";
import type {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Event,
  Lease,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Secret,
  Service,
  ServiceAccount,
  StorageClass,
} from "./generated/types.ts";

export interface Resource<T> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** Carries the type only; never set. */
  readonly objectType?: T;
}

/** The API's own type of an object, with the parts that every stored object has. */
export type Stored<T> = T & KubeObject;

export function resourceOf<T>(
  apiVersion: string,
  kind: string,
  plural: string,
  isNamespaced = true,
): Resource<Stored<T>> {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  return { group: group ?? "", version: version ?? "", kind, plural, isNamespaced };
}

export function apiVersionOf(resource: Resource<unknown>): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

export const pods = resourceOf<Pod>("v1", "Pod", "pods");
export const persistentVolumeClaims = resourceOf<PersistentVolumeClaim>(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
export const persistentVolumes = resourceOf<PersistentVolume>(
  "v1",
  "PersistentVolume",
  "persistentvolumes",
  false,
);
export const configMaps = resourceOf<ConfigMap>("v1", "ConfigMap", "configmaps");
export const secrets = resourceOf<Secret>("v1", "Secret", "secrets");
export const services = resourceOf<Service>("v1", "Service", "services");
export const serviceAccounts = resourceOf<ServiceAccount>(
  "v1",
  "ServiceAccount",
  "serviceaccounts",
);
export const events = resourceOf<Event>("v1", "Event", "events");
export const nodes = resourceOf<Node>("v1", "Node", "nodes", false);
export const namespaces = resourceOf<Namespace>("v1", "Namespace", "namespaces", false);
export const deployments = resourceOf<Deployment>("apps/v1", "Deployment", "deployments");
export const replicaSets = resourceOf<ReplicaSet>("apps/v1", "ReplicaSet", "replicasets");
export const leases = resourceOf<Lease>("coordination.k8s.io/v1", "Lease", "leases");
export const networkPolicies = resourceOf<NetworkPolicy>(
  "networking.k8s.io/v1",
  "NetworkPolicy",
  "networkpolicies",
);
export const podDisruptionBudgets = resourceOf<PodDisruptionBudget>(
  "policy/v1",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);
export const storageClasses = resourceOf<StorageClass>(
  "storage.k8s.io/v1",
  "StorageClass",
  "storageclasses",
  false,
);
export const customResourceDefinitions = resourceOf<CustomResourceDefinition>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
  false,
);
