// The write that gives a running pod other CPU and memory. Rules: spec/pod-resize.md [SIZE2].
import { annotationKeys } from "../build/labels.ts";
import type { KubeClient } from "../kube/client.ts";
import { pods } from "../kube/resource.ts";
import type { PodResize } from "../plan/action.ts";
import type { Caches } from "./caches.ts";
import type { Doubts } from "./doubts.ts";

export interface ResizeTools {
  client: KubeClient;
  caches: Pick<Caches, "pods">;
  namespace: string;
  doubts: Doubts;
}

/**
 * The mark comes first, so that whoever finds the pod with other resources knows whose they are. The resize takes no metadata
 * along, and is for exactly the pod that was marked.
 */
export async function resizePod(
  { client, caches, namespace, doubts }: ResizeTools,
  { basis, containers, mark }: PodResize,
): Promise<void> {
  const key = { namespace, name: basis.name };
  const place = { resource: pods, cache: caches.pods, key };
  const annotations = { [annotationKeys.resizeTarget]: mark };
  const { uid, resourceVersion } = basis;
  const marking = { metadata: { uid, resourceVersion, annotations } };
  const marked = await doubts.during(place, () =>
    client.patch(pods, key, marking, { type: "merge" }),
  );
  place.cache.observeWrite(marked);
  const metadata = { resourceVersion: marked.metadata.resourceVersion };
  const resize = { type: "strategic", subresource: "resize" } as const;
  place.cache.observeWrite(
    await doubts.during(place, () =>
      client.patch(pods, key, { metadata, spec: { containers } }, resize),
    ),
  );
}
