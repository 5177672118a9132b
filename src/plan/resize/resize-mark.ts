// The mark of a pod that is being resized: the hash of the specification that it is to have, and since when. It is written
// before the resize and goes when the note of the specification takes its place. Rules: spec/pod-resize.md [SIZE2].
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { Snapshot } from "../snapshot.ts";
import { toldAnnotation, toldMs } from "../view/server-time.ts";

type Times = Pick<Snapshot, "nowMs" | "serverAheadMs">;

export function resizeMark(times: Times, specHash: string): string {
  return `${specHash} ${toldAnnotation(times)}`;
}

const form = /^(\S+) (\d{1,12})$/;

/** The specification that it is to have; undefined without a mark, and with one that cannot be read. */
export function resizeTargetOf({ metadata }: Stored<Pod>): string | undefined {
  return form.exec(metadata.annotations?.[annotationKeys.resizeTarget] ?? "")?.[1];
}

/** When it was marked; undefined as above. */
export function resizedSinceMs(times: Times, { metadata }: Stored<Pod>): number | undefined {
  const told = form.exec(metadata.annotations?.[annotationKeys.resizeTarget] ?? "")?.[2];
  return told === undefined ? undefined : toldMs(times, told);
}
