// The Kubernetes objects of a process group that is to go: what is still there, what is on its way out, and what
// forbids to touch it. Rules: spec/removal.md [R50]-[R53].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { labelsOf } from "../../api/effective.ts";
import { isIsolated } from "../../build/fence.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { ObjectBasis } from "../action.ts";
import { claimsOf } from "../volumes/own-claims.ts";
import type { Snapshot } from "../snapshot.ts";
import { viewOf } from "../view/cluster-view.ts";
import { fenceWish } from "../view/fence.ts";
import type { FenceWish } from "../view/fence.ts";

export interface GroupObjects {
  /** Still there and not being deleted. */
  readonly pod?: ObjectBasis;
  readonly pvc?: ObjectBasis;
  readonly service?: ObjectBasis;
  /** Being deleted, as kind/name. */
  readonly deleting: readonly string[];
  /** Why none of them may be deleted, as a clause. */
  readonly problem?: string;
}

export function objectsOfGroup(snapshot: Snapshot, group: ProcessGroup): GroupObjects {
  const { podName, pod, shape, service: named } = viewOf(snapshot).of(group);
  const [idLabel = ""] = labelsOf(snapshot.cluster).processGroupIdLabels;
  const service = named?.metadata.labels?.[idLabel] === group.processGroupID ? named : undefined;
  const claims = claimsOf(snapshot, group);
  const [claim] = claims;
  const deleting: string[] = [];
  const basis = (kind: string, object: KubeObject | undefined): ObjectBasis | undefined => {
    if (object === undefined) return undefined;
    const { name = "", uid = "", resourceVersion = "", deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined) return { name, uid, resourceVersion };
    deleting.push(`${kind}/${name}`);
    return undefined;
  };
  const found = {
    pod: basis("pod", pod),
    pvc: basis("persistentvolumeclaim", claim),
    service: basis("service", service),
  };
  const wish = fenceWish(snapshot, group);
  const problem =
    wish !== undefined && shape?.imageType === "unified"
      ? wishTexts[wish]
      : pod !== undefined && isIsolated(pod)
        ? `pod ${podName} is kept for inspection by the annotation ${annotationKeys.isolateProcessGroup}`
        : claims.length > 1
          ? `${claims.length} volume claims carry its id, and it is not known which one holds its data`
          : undefined;
  return {
    ...(found.pod === undefined ? {} : { pod: found.pod }),
    ...(found.pvc === undefined ? {} : { pvc: found.pvc }),
    ...(found.service === undefined ? {} : { service: found.service }),
    deleting,
    ...(problem === undefined ? {} : { problem }),
  };
}

const wishTexts: Readonly<Record<FenceWish, string>> = {
  spec: "it is fenced: spec.fence names it",
  pod: `it is fenced: its pod has the annotation ${annotationKeys.fence}`,
};

/** Something is left that nobody deletes yet. */
export function hasLiveObjects(objects: GroupObjects): boolean {
  return objects.pod !== undefined || objects.pvc !== undefined || objects.service !== undefined;
}

export function isGone(objects: GroupObjects): boolean {
  return !hasLiveObjects(objects) && objects.deleting.length === 0;
}
