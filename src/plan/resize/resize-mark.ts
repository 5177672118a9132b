// The mark of a pod that is being resized: the hash of the specification that it is to have, since when, and whether a limit
// is lower than before. It is written before the resize and goes when the note of the specification takes its place; with a
// lower limit it is written anew then, and goes when the pod has served with it. Rules: spec/pod-resize.md [SIZE2], [SIZE3].
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Snapshot } from "../snapshot.ts";
import { toldAnnotation, toldMs } from "../view/server-time.ts";

type Times = Pick<Snapshot, "nowMs" | "serverAheadMs">;

export function resizeMark(times: Times, specHash: string, isLower: boolean): string {
  return `${specHash} ${toldAnnotation(times)}${isLower ? " lower" : ""}`;
}

const form = /^(\S+) (\d{1,12})( lower)?$/;

/** The specification that it is to have; undefined without a mark, and with one that cannot be read. */
export function resizeTargetOf({ metadata }: Stored<Pod>): string | undefined {
  return form.exec(metadata.annotations?.[annotationKeys.resizeTarget] ?? "")?.[1];
}

/** When it was marked; undefined as above. */
export function resizedSinceMs(times: Times, { metadata }: Stored<Pod>): number | undefined {
  const told = form.exec(metadata.annotations?.[annotationKeys.resizeTarget] ?? "")?.[2];
  return told === undefined ? undefined : toldMs(times, told);
}

/** Whether the pod has a lower limit that is not proved yet; one whose mark cannot be read may have. */
export function isMarkedLower({ metadata }: Stored<Pod>): boolean {
  const mark = metadata.annotations?.[annotationKeys.resizeTarget];
  if (mark === undefined) return false;
  const found = form.exec(mark);
  return found === null || found[3] !== undefined;
}
