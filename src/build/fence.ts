// A pod whose servers are stopped in place: the monitor of the unified image reads it off the pod's annotations. A second one
// says that the operator did it, so that it takes back only what it has done itself. Rules: spec/fencing.md [FENCE2], [FENCE9].
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import { annotationKeys } from "./labels.ts";

type Annotated = Pick<Stored<Pod>, "metadata">;

export const fenceAnnotations: Readonly<Record<string, string>> = {
  [annotationKeys.isolateProcessGroup]: "true",
  [annotationKeys.fenced]: "true",
};

export const unfencedAnnotations: Readonly<Record<string, null>> = {
  [annotationKeys.isolateProcessGroup]: null,
  [annotationKeys.fenced]: null,
};

/** Its monitor runs no servers, whoever asked for that. */
export function isIsolated({ metadata }: Annotated): boolean {
  return metadata.annotations?.[annotationKeys.isolateProcessGroup] === "true";
}

/** The operator has fenced it. */
export function isMarkedFenced({ metadata }: Annotated): boolean {
  return metadata.annotations?.[annotationKeys.fenced] === "true";
}

/** A person asks for it on the pod itself. */
export function asksForFence({ metadata }: Annotated): boolean {
  return metadata.annotations?.[annotationKeys.fence] === "true";
}
