// FoundationDBCluster: one Kubernetes cluster's share of a FoundationDB database.
import type { ObjectMeta } from "../kube/object.ts";
import { resourceOf } from "../kube/resource.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import type { ClusterStatus } from "./cluster-status.ts";

export type { ClusterSpec, ImageType } from "./cluster-spec.ts";
export type {
  ClusterGenerations,
  ClusterHealth,
  ClusterStatus,
  ProcessGroupCondition,
  ProcessGroupConditionType,
  ProcessGroupStatus,
  FormerCoordinators,
  QuarantineEntry,
} from "./cluster-status.ts";
export type { BlockedBy } from "./blocked-by.ts";
export type { AutomationOptions, ReplacementOptions } from "./automation-options.ts";
export type { Condition, ConditionType } from "./conditions.ts";
export type { ContainerOverrides, ImageConfig } from "./container-overrides.ts";
export type { DataCenter, DatabaseConfigurationSpec, Region } from "./database-configuration.ts";
export type { ProcessSettings } from "./process-settings.ts";
export type { LabelConfig, ProcessCounts, RoutingSpec } from "./cluster-options.ts";
export type { DistributionConfig, FaultDomainSpec, LocalitySpec } from "./placement-options.ts";

export const apiVersion = "apps.foundationdb.org/v1beta2";

/** An annotation that keeps a cluster when it is deleted, and the finalizer that does so. */
export const deletionProtection = "foundationdb.org/deletion-protection";

export interface FoundationDBCluster {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: ClusterSpec;
  readonly status?: ClusterStatus;
}

export const foundationDbClusters = resourceOf<FoundationDBCluster>(
  apiVersion,
  "FoundationDBCluster",
  "foundationdbclusters",
);
