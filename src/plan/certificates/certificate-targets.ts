// Which processes have certificates to look at. Rule: spec/certificates.md [CERT2].
import { mainContainerName } from "../../build/normalise.ts";
import { processPort } from "../../model/address.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";

export interface CertificateTarget {
  /** Tells one process of the cluster from another. */
  key: string;
  processGroupId: string;
  /** IP address without brackets. */
  host: string;
  port: number;
  /** Tells one run of the process from another, as far as Kubernetes knows. */
  run: string;
}

export function certificateTargetsOf(snapshot: Snapshot, draft: Draft): CertificateTarget[] {
  if (draft.status.requiredAddresses?.tls !== true) return [];
  return draft.groups.flatMap((group) => {
    const { pod, shape } = viewOf(snapshot).of(group);
    const [host] = shape?.hosts ?? [];
    if (pod === undefined || shape === undefined || host === undefined) return [];
    const main = pod.status?.containerStatuses?.find(({ name }) => name === mainContainerName);
    if (shape.isDeleting || main?.state?.running === undefined || isMarkedForRemoval(group)) {
      return [];
    }
    const { processGroupID: processGroupId } = group;
    const run = `${pod.metadata.uid ?? ""} ${main.restartCount ?? 0}`;
    return Array.from({ length: shape.servers }, (_, index) => {
      const key = `${processGroupId}/${index + 1}`;
      return { key, processGroupId, host, port: processPort(index + 1, true), run };
    });
  });
}
