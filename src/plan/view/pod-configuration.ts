// Whether a pod runs with the configuration of the ConfigMap. The truth is what the pod says: the unified
// monitor writes its active configuration into an annotation, the split sidecar hashes its files. The
// annotation last-applied-config-map only says what the pod was told last.
// Rules: spec/plan.md [P30], [P31], spec/upgrade.md [U26], [U58].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Desired } from "./desired.ts";
import { shapeOfPod } from "./pod-shape.ts";
import { upgradeStateOf } from "./running-version.ts";
import type { Snapshot } from "../snapshot.ts";

/** "untold": the pod must be told that the ConfigMap changed; "outdated": it was told and has not followed yet. */
export type PodConfigurationState = "current" | "untold" | "outdated" | "unknown";

export function podConfigurationState(
  snapshot: Snapshot,
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): PodConfigurationState {
  const shape = shapeOfPod(snapshot, pod);
  const told = pod.metadata.annotations?.[annotationKeys.lastAppliedConfigMap];
  if (told !== desired.configHash(group, pod)) return "untold";
  if (shape.imageType === "unified") {
    const isCurrent = desired.isCurrentConfiguration(group, pod, shape.currentConfiguration);
    return isCurrent ? "current" : "outdated";
  }
  const sidecar = snapshot.sidecars.get(pod.metadata.name ?? "");
  if (sidecar?.kind !== "answered" || sidecar.isBeforeCopy === true) return "unknown";
  if (!shape.isSidecarReady) return "unknown";
  const expected = desired.sidecarFileHashes(group, pod, sidecar.substitutions);
  const isCurrent = Object.entries(expected).every(
    ([file, hash]) => sidecar.fileHashes[file] === hash,
  );
  if (!isCurrent) return "outdated";
  const binary = stagedBinary(desired, group, pod);
  if (binary === undefined) return "current";
  const isPresent = sidecar.presentFiles?.includes(binary) === true;
  const isNamed = sidecar.substitutions["BINARY_DIR"]?.endsWith(directoryOf(binary)) === true;
  return isPresent && isNamed ? "current" : "unknown";
}

/**
 * The binary of the wanted version that a split pod must have before all processes change to it, as its sidecar knows
 * it; undefined when none is needed beside that of the pod's own image. The monitor of a unified pod looks itself.
 */
export function stagedBinary(
  desired: Desired,
  group: ProcessGroup,
  pod: Stored<Pod>,
): string | undefined {
  const { spec, status } = desired.cluster;
  const { isUpgrading, isCompatible } = upgradeStateOf(
    status?.runningVersion || spec.version,
    spec.version,
  );
  if (!isUpgrading || isCompatible) return undefined;
  const { imageType, sidecarImage } = shapeOfPod(desired, pod);
  const isStaged = sidecarImage === desired.sidecarImage(group, pod);
  if (imageType !== "split" || !isStaged) return undefined;
  return `bin/${spec.version}/fdbserver`;
}

function directoryOf(path: string): string {
  return `/${path.slice(0, path.lastIndexOf("/"))}`;
}

export interface Substitutions {
  values: Readonly<Record<string, string>> | undefined;
  isUnreachable: boolean;
}

export function substitutionsOf(snapshot: Snapshot, pod: Stored<Pod>): Substitutions {
  const shape = shapeOfPod(snapshot, pod);
  if (shape.imageType === "unified") return { values: shape.environment, isUnreachable: false };
  const sidecar = snapshot.sidecars.get(pod.metadata.name ?? "");
  if (sidecar === undefined) return { values: undefined, isUnreachable: false };
  if (sidecar.kind === "unreachable") return { values: undefined, isUnreachable: true };
  // It is restarting, perhaps with another image: what it said before is over.
  if (!shape.isSidecarReady) return { values: undefined, isUnreachable: false };
  return { values: sidecar.substitutions, isUnreachable: false };
}
