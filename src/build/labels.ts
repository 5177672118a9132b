// Metadata that all objects of a cluster share: labels, the annotations the operator writes, and the owner.
// Carries the rules B15 to B18 of spec/build.md and PACK20 of spec/packing.md.
import { stoppingAnnotations } from "../api/stopping-annotations.ts";
import { labelsOf } from "../api/effective.ts";
import type { NamedCluster } from "../api/effective.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../kube/object.ts";
import type { NormalCluster } from "./normalise.ts";

export const annotationKeys = {
  lastAppliedSpec: "foundationdb.org/last-applied-spec",
  lastAppliedConfigMap: "foundationdb.org/last-applied-config-map",
  publicIpSource: "foundationdb.org/public-ip-source",
  publicIp: "foundationdb.org/public-ip",
  ipFamily: "foundationdb.org/ip-family",
  imageType: "foundationdb.org/image-type",
  currentNode: "foundationdb.org/current-node",
  ...stoppingAnnotations,
  launcherConfiguration: "foundationdb.org/launcher-current-configuration",
  launcherEnvironment: "foundationdb.org/launcher-environment",
  resizeTarget: "foundationdb.org/resize-target",
  diskLayout: "foundationdb.org/disk-layout",
  outdatedSeed: "foundationdb.org/outdated-seed",
  outdatedConfigMapSeen: "foundationdb.org/outdated-config-map-seen",
} as const;

/** On the pods and volume claims of a packed process group: its logical fault domain. */
export const distributionKeyLabel = "foundationdb.org/distribution-key";

/** What an object is about; the shared objects of a cluster have neither class nor id. */
export interface Subject {
  processClass?: string | undefined;
  processGroupID?: string | undefined;
  distributionKey?: string | undefined;
}

/** Every label that an object carries, those of the resource last. */
function allLabels(cluster: NamedCluster, subject: Subject): Record<string, string> {
  const labels = labelsOf(cluster);
  const result: Record<string, string> = { ...labels.matchLabels };
  for (const key of subject.processClass ? labels.processClassLabels : []) {
    result[key] = subject.processClass ?? "";
  }
  for (const key of subject.processGroupID ? labels.processGroupIdLabels : []) {
    result[key] = subject.processGroupID ?? "";
  }
  const key = subject.distributionKey;
  return { ...result, ...labels.resourceLabels, ...(key ? { [distributionKeyLabel]: key } : {}) };
}

/** The labels by which the pods of a subject are found. */
export function selectorLabels(cluster: NamedCluster, subject: Subject): Record<string, string> {
  const labels = labelsOf(cluster);
  const [classLabel = ""] = labels.processClassLabels;
  const [idLabel = ""] = labels.processGroupIdLabels;
  return {
    ...labels.matchLabels,
    ...(subject.processClass ? { [classLabel]: subject.processClass } : {}),
    ...(subject.processGroupID ? { [idLabel]: subject.processGroupID } : {}),
  };
}

/** Of a resource of ours that makes the object. */
export function ownerReferenceTo(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name ?? "",
    uid: owner.metadata.uid ?? "",
    controller: true,
  };
}

interface Metadata {
  labels?: Readonly<Record<string, string>> | undefined;
  annotations?: Readonly<Record<string, string>> | undefined;
  finalizers?: readonly string[] | undefined;
}

/** Metadata of a user's template is the base; the operator's own values win. */
export function metadataFor(
  cluster: NormalCluster,
  name: string,
  subject: Subject,
  base: Metadata | null = {},
  annotations: Readonly<Record<string, string>> = {},
): ObjectMeta {
  const allAnnotations = { ...base?.annotations, ...annotations };
  return {
    name,
    ...(cluster.metadata.namespace === undefined ? {} : { namespace: cluster.metadata.namespace }),
    labels: { ...base?.labels, ...allLabels(cluster, subject) },
    ...(Object.keys(allAnnotations).length > 0 ? { annotations: allAnnotations } : {}),
    ...(base?.finalizers && base.finalizers.length > 0 ? { finalizers: [...base.finalizers] } : {}),
    ownerReferences: [ownerReferenceTo(cluster)],
  };
}

/** The wanted labels and annotations are all there; others may stand beside them. */
export function containsMetadata(current: Metadata, wanted: Metadata): boolean {
  return (
    containsAll(current.labels ?? {}, wanted.labels ?? {}) &&
    containsAll(current.annotations ?? {}, wanted.annotations ?? {})
  );
}

function containsAll(
  current: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => current[key] === value);
}
