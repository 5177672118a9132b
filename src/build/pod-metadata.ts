// Labels and annotations of a pod, when it is made and while it lives. Carries the rules B70 to B72 of spec/build.md.
import { imageTypeOf, processSettingsOf, routingOf } from "../api/effective.ts";
import type { ObjectMeta } from "../kube/object.ts";
import { podNameOf } from "../model/process-group-id.ts";
import { annotationKeys, metadataFor } from "./labels.ts";
import type { NormalCluster } from "./normalise.ts";
import { imageTypeOfPod, ipFamilyOfPod, publicIpSourceOfPod } from "./pod-reading.ts";
import type { ReadablePod } from "./pod-reading.ts";
import type { PodSubject } from "./pod-subject.ts";

export function podMetadata(
  cluster: NormalCluster,
  subject: PodSubject,
  specHash: string,
  extras: { configMapHash?: string | undefined; publicIp?: string | undefined } = {},
): ObjectMeta {
  const { processClass, processGroupID, distributionKey } = subject;
  const routing = routingOf(cluster.spec);
  return metadataFor(
    cluster,
    podNameOf(cluster.metadata.name ?? "", processClass, processGroupID),
    { processClass, processGroupID, distributionKey },
    processSettingsOf(cluster.spec, processClass).podTemplate?.metadata,
    {
      [annotationKeys.lastAppliedSpec]: specHash,
      ...(extras.configMapHash === undefined
        ? {}
        : { [annotationKeys.lastAppliedConfigMap]: extras.configMapHash }),
      [annotationKeys.publicIpSource]: routing.publicIpSource,
      ...(extras.publicIp === undefined ? {} : { [annotationKeys.publicIp]: extras.publicIp }),
      [annotationKeys.imageType]: imageTypeOf(cluster.spec),
      [annotationKeys.ipFamily]: String(routing.podIpFamily),
    },
  );
}

/**
 * The metadata that a living pod should have. What tells how the pod was made is not corrected: only a new pod can change
 * that. The node is added once the pod has one.
 */
export function livePodMetadata(
  cluster: NormalCluster,
  subject: PodSubject,
  current: ReadablePod,
): { labels: Record<string, string>; annotations: Record<string, string> } {
  const wanted = podMetadata(cluster, subject, "");
  const wantedSource = routingOf(cluster.spec).publicIpSource;
  const present = current.metadata.annotations ?? {};
  const node = current.spec?.nodeName;
  return {
    labels: wanted.labels ?? {},
    annotations: {
      ...wanted.annotations,
      [annotationKeys.lastAppliedSpec]: present[annotationKeys.lastAppliedSpec] ?? "",
      [annotationKeys.publicIpSource]: publicIpSourceOfPod(current) ?? wantedSource,
      [annotationKeys.imageType]: imageTypeOfPod(current),
      [annotationKeys.ipFamily]: String(ipFamilyOfPod(current)),
      ...(node ? { [annotationKeys.currentNode]: node } : {}),
    },
  };
}
