// Which versions pods are prepared for that do not understand the running one: a process that restarts in such a pod comes
// back with the new version and is lost to the others. Rules: spec/upgrade.md [U39], [U57].
import { tagOf } from "../../build/images.ts";
import {
  compareVersions,
  formatVersion,
  isProtocolCompatible,
  parseVersion,
} from "../../model/version.ts";
import { announcements } from "../view/pod-binaries.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import type { Snapshot } from "../snapshot.ts";

/** By sidecars and, where it is known, by the ConfigMap; the version of most of them first. */
export function preparedVersions(
  snapshot: Pick<Snapshot, "cluster" | "pods" | "memory"> & { configMap?: Snapshot["configMap"] },
  runningVersion: string,
): string[] {
  const running = parseVersion(runningVersion);
  const counts = new Map<string, number>();
  const count = (text: string): void => {
    const version = parseVersion(text);
    if (version === undefined || running === undefined) return;
    if (isProtocolCompatible(version, running) || compareVersions(version, running) < 0) return;
    const name = formatVersion(version);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  for (const pod of snapshot.pods.values()) {
    // The image that the sidecar should run, and the one that it still runs.
    const { sidecarImage = "", runningSidecarImage = "" } = shapeOfPod(snapshot, pod);
    const tags = [sidecarImage, runningSidecarImage].map((image) => tagOf(image) ?? "");
    for (const tag of new Set(tags)) count(tag.replace(/-\d+$/, ""));
  }
  for (const version of new Set(announcements(snapshot))) count(version ?? "");
  return [...counts]
    .toSorted(([one, left], [other, right]) => right - left || (one < other ? -1 : 1))
    .map(([version]) => version);
}
