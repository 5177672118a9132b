// The mark of a pod that is being resized: the hash of the specification that it is to have, and since when. It is written
// before the resize and goes when the note of the specification takes its place. Rules: spec/pod-resize.md [SIZE2].
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { formatTime } from "../../kube/time.ts";

export interface ResizeMark {
  readonly specHash: string;
  readonly sinceMs: number;
}

export function resizeMarkText({ specHash, sinceMs }: ResizeMark): string {
  return `${specHash} ${formatTime(sinceMs)}`;
}

/** A mark that cannot be read is none: what it stands for is then told by the note alone. */
export function resizeMarkOf({ metadata }: Stored<Pod>): ResizeMark | undefined {
  const text = metadata.annotations?.[annotationKeys.resizeTarget];
  if (text === undefined) return undefined;
  const [specHash = "", time = ""] = text.split(" ");
  const sinceMs = Date.parse(time);
  return specHash === "" || Number.isNaN(sinceMs) ? undefined : { specHash, sinceMs };
}
