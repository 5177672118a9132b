// Fault domains: what a cluster takes as the unit that fails together, and where a pod learns the name of its own.
// Carries the rules M30 and M31 of spec/model.md.

export const defaultFaultDomainKey = "kubernetes.io/hostname";
/** Every pod is its own fault domain. */
export const noFaultDomainKey = "foundationdb.org/none";
/** The whole Kubernetes cluster is one fault domain. */
export const kubernetesClusterKey = "foundationdb.org/kubernetes-cluster";

export interface FaultDomain {
  key?: string | undefined;
  value?: string | undefined;
  valueFrom?: string | undefined;
  zoneCount?: number | undefined;
  zoneIndex?: number | undefined;
}

export function faultDomainKeyOf(faultDomain: FaultDomain | undefined): string {
  return faultDomain?.key || defaultFaultDomainKey;
}

/** The key over which the scheduler can spread pods, or undefined for the two special keys. */
export function topologyKeyOf(faultDomain: FaultDomain | undefined): string | undefined {
  const key = faultDomainKeyOf(faultDomain);
  return key === noFaultDomainKey || key === kubernetesClusterKey ? undefined : key;
}

/** A user's own environment variable may carry the zone: `valueFrom: $NAME`. */
export function zoneVariableOf(faultDomain: FaultDomain | undefined): string {
  const valueFrom = faultDomain?.valueFrom ?? "";
  return valueFrom.startsWith("$") ? valueFrom.slice(1) : "FDB_ZONE_ID";
}
