// Which versions pods are prepared for that do not understand the running one: a process that restarts in such a pod comes
// back with the new version and is lost to the others. Rules: spec/upgrade.md [U39], [U57], spec/adoption.md [ADO7].
import { isAdopting } from "../../api/adoption.ts";
import { tagOf } from "../../build/images.ts";
import {
  compareVersions,
  formatVersion,
  isProtocolCompatible,
  parseVersion,
} from "../../model/version.ts";
import { announcements, canStart } from "../view/pod-binaries.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import type { PodShape } from "../view/pod-shape.ts";
import type { Snapshot } from "../snapshot.ts";

type PreparedView = Pick<Snapshot, "cluster" | "pods" | "memory"> & {
  configMap?: Snapshot["configMap"];
};

/** By sidecars and, where it is known, by the ConfigMap; the version of most of them first. */
export function preparedVersions(snapshot: PreparedView, runningVersion: string): string[] {
  const running = parseVersion(runningVersion);
  const counts = new Map<string, number>();
  for (const [text, count] of snapshot.memory.once(toldVersions, snapshot)) {
    const version = parseVersion(text);
    if (version === undefined || running === undefined) continue;
    if (isProtocolCompatible(version, running) || compareVersions(version, running) < 0) continue;
    const name = formatVersion(version);
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return [...counts]
    .toSorted(([one, left], [other, right]) => right - left || (one < other ? -1 : 1))
    .map(([version]) => version);
}

/** How often each version is told. Pods are many, and have few of them; several steps ask. */
function toldVersions(snapshot: PreparedView): ReadonlyMap<string, number> {
  const told = new Map<string, number>();
  const tell = (text: string): void => void told.set(text, (told.get(text) ?? 0) + 1);
  for (const pod of snapshot.pods.values()) {
    const shape = shapeOfPod(snapshot, pod);
    for (const text of snapshot.memory.once(versionsOfSidecar, shape)) tell(text);
  }
  for (const version of new Set(announcements(snapshot))) {
    if (!isTriedInVain(snapshot, version ?? "")) tell(version ?? "");
  }
  return told;
}

/**
 * What a database on disks was tried with first, and no pod can start any more: nobody runs it. Of any other database it
 * may be the version that its data was written with last.
 */
function isTriedInVain(view: PreparedView, version: string): boolean {
  if (!isAdopting(view.cluster)) return false;
  return [...view.pods.values()].every((pod) => canStart(view, pod, version) === false);
}

/** By the image that the sidecar should run, and the one that it still runs. */
function versionsOfSidecar(shape: PodShape): readonly string[] {
  const { sidecarImage = "", runningSidecarImage = "" } = shape;
  const tags = [sidecarImage, runningSidecarImage].map((image) => tagOf(image) ?? "");
  return [...new Set(tags)].map((tag) => tag.replace(/-\d+$/, ""));
}
