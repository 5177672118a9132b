// Where a pod's volume claims let it run, and which claims wait for the choice of a node. Carries
// rule SCH9.
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from "../kube/generated/types.ts";
import { quantityValue } from "./scheduler-quantity.ts";
import { matchesLabelSelector, matchesNodeSelector } from "../kube/selector.ts";

export interface VolumeLookup {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
  volumes(): Iterable<PersistentVolume>;
}

export interface WaitingClaim {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
}

export interface PodVolumes {
  readonly bound: readonly PersistentVolume[];
  readonly waiting: readonly WaitingClaim[];
}

export const staticProvisioner = "kubernetes.io/no-provisioner";

/** The volumes behind the pod's claims, or in words why no node can do. */
export function observePodVolumes(
  pod: Pod,
  lookup: VolumeLookup,
): PodVolumes | { problem: string } {
  const bound: PersistentVolume[] = [];
  const waiting: WaitingClaim[] = [];
  let hasUnbound = false;
  for (const name of claimNames(pod)) {
    const claim = lookup.claim(pod.metadata.namespace ?? "", name);
    if (claim === undefined) return { problem: `persistentvolumeclaim "${name}" not found` };
    if (claim.metadata.deletionTimestamp !== undefined) {
      return { problem: `persistentvolumeclaim "${name}" is being deleted` };
    }
    const volumeName = claim.spec?.volumeName ?? "";
    if (volumeName !== "" && claim.status?.phase === "Bound") {
      const volume = lookup.volume(volumeName);
      if (volume === undefined) {
        const what = `bound to non-existent persistentvolume "${volumeName}"`;
        return { problem: `persistentvolumeclaim "${name}" ${what}` };
      }
      bound.push(volume);
      continue;
    }
    const storageClass = lookup.storageClass(claim.spec?.storageClassName ?? "");
    const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer" && volumeName === "";
    if (storageClass !== undefined && waits) waiting.push({ claim, storageClass });
    else hasUnbound = true;
  }
  if (hasUnbound) return { problem: "pod has unbound immediate PersistentVolumeClaims" };
  return { bound, waiting };
}

export type VolumeVerdict = "fits" | "wrongNode" | "wrongZone" | "noVolume";

export function judgeVolumes(volumes: PodVolumes, node: Node, lookup: VolumeLookup): VolumeVerdict {
  for (const volume of volumes.bound) {
    if (!matchesNodeSelector(volume.spec?.nodeAffinity?.required, node)) return "wrongNode";
  }
  for (const { claim, storageClass } of volumes.waiting) {
    const isPossible =
      storageClass.provisioner === staticProvisioner
        ? findStaticVolume(claim, lookup.volumes(), node) !== undefined
        : isAllowedTopology(storageClass, node);
    if (!isPossible) return "noVolume";
  }
  return volumes.bound.every((volume) => isInZone(volume, node)) ? "fits" : "wrongZone";
}

/** The smallest free volume that satisfies the claim, on the node when one is given. */
export function findStaticVolume(
  claim: PersistentVolumeClaim,
  volumes: Iterable<PersistentVolume>,
  node?: Node,
): PersistentVolume | undefined {
  const size = (volume: PersistentVolume) => quantityValue(volume.spec?.capacity?.["storage"]);
  const wanted = quantityValue(claim.spec?.resources?.requests?.["storage"]);
  return [...volumes]
    .filter(
      (volume) =>
        volume.spec?.claimRef === undefined &&
        volume.metadata.deletionTimestamp === undefined &&
        (volume.spec?.storageClassName ?? "") === (claim.spec?.storageClassName ?? "") &&
        (volume.spec?.volumeMode ?? "Filesystem") === (claim.spec?.volumeMode ?? "Filesystem") &&
        (claim.spec?.selector === undefined ||
          matchesLabelSelector(claim.spec.selector, volume.metadata.labels ?? {})) &&
        size(volume) >= wanted &&
        (claim.spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode)) &&
        (node === undefined || matchesNodeSelector(volume.spec?.nodeAffinity?.required, node)),
    )
    .toSorted((left, right) =>
      size(left) === size(right)
        ? (left.metadata.name ?? "") < (right.metadata.name ?? "")
          ? -1
          : 1
        : size(left) - size(right),
    )[0];
}

export function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) =>
    volume.persistentVolumeClaim === undefined ? [] : [volume.persistentVolumeClaim.claimName],
  );
}

function isAllowedTopology(storageClass: StorageClass, node: Node): boolean {
  const terms = storageClass.allowedTopologies ?? [];
  if (terms.length === 0) return true;
  const labels = node.metadata.labels ?? {};
  return terms.some((term) =>
    (term.matchLabelExpressions ?? []).every(({ key, values }) =>
      values.includes(labels[key] ?? ""),
    ),
  );
}

const zoneKeys = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/** A volume may carry its zones as labels, several joined by two underscores. */
function isInZone(volume: PersistentVolume, node: Node): boolean {
  return zoneKeys.every((key) => {
    const zones = volume.metadata.labels?.[key];
    return zones === undefined || zones.split("__").includes(node.metadata.labels?.[key] ?? "");
  });
}
