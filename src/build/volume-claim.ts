// The volume claim of a process group that keeps data. Carries the rules B46 to B48 of spec/build.md.
import { processSettingsOf } from "../api/effective.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from "../kube/generated/types.ts";
import { isStateful } from "../model/process-class.ts";
import { podNameOf, volumeClaimNameOf } from "../model/process-group-id.ts";
import { compareQuantities } from "../model/quantity.ts";
import { annotationKeys, metadataFor } from "./labels.ts";
import type { NormalCluster } from "./normalise.ts";
import type { PodSubject } from "./pod-subject.ts";
import { volumeClaimSpecHash } from "./spec-hash.ts";

const defaultSize = "128G";

/** Undefined for classes that keep no data. */
export function volumeClaim(
  cluster: NormalCluster,
  subject: PodSubject,
): PersistentVolumeClaim | undefined {
  const { processClass, processGroupID, distributionKey } = subject;
  if (!isStateful(processClass)) return undefined;
  const template = processSettingsOf(cluster.spec, processClass).volumeClaimTemplate;
  const spec = claimSpec(template?.spec ?? {});
  const podName = podNameOf(cluster.metadata.name ?? "", processClass, processGroupID);
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: metadataFor(
      cluster,
      volumeClaimNameOf(podName),
      { processClass, processGroupID, distributionKey },
      template?.metadata,
      { [annotationKeys.lastAppliedSpec]: volumeClaimSpecHash(spec) },
    ),
    spec,
  };
}

function claimSpec(given: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const requests = given.resources?.requests ?? {};
  const size = requests["storage"] ?? 0;
  return {
    ...given,
    accessModes: given.accessModes ?? ["ReadWriteOnce"],
    resources: {
      ...given.resources,
      requests: { ...requests, storage: compareQuantities(size, 0) === 0 ? defaultSize : size },
    },
  };
}
