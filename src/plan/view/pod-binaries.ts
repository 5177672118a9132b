// Which versions of fdbserver a unified pod can start: its image has one that serves for every version of the same
// protocol, and a sidecar may have put others beside it. A configuration of any other version is not taken over, and
// after a restart of its containers the pod would run nothing. Rules: spec/upgrade.md [U86], spec/plan.md [P60], spec/adoption.md [ADO17].
import { tagOf } from "../../build/images.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { Remembering } from "../../env/memory.ts";
import type { ConfigMap, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import {
  compareVersions,
  formatVersion,
  isProtocolCompatible,
  oneOfEachProtocol,
  parseVersion,
} from "../../model/version.ts";
import type { Version } from "../../model/version.ts";
import { shapeOfPod } from "./pod-shape.ts";
import type { Snapshot } from "../snapshot.ts";

/** Undefined when the image of the pod does not tell its version. */
export function canStart(
  view: Remembering,
  pod: Stored<Pod>,
  version: string,
): boolean | undefined {
  const wanted = parseVersion(version);
  if (wanted === undefined) return shapeOfPod(view, pod).imageType === "split" || undefined;
  return canStartVersion(view, pod, wanted);
}

function canStartVersion(
  view: Remembering,
  pod: Stored<Pod>,
  wanted: Version,
): boolean | undefined {
  const shape = shapeOfPod(view, pod);
  if (shape.imageType === "split") return true;
  const own = view.memory.once(versionOfPod, pod);
  if (own === undefined) return undefined;
  if (isProtocolCompatible(own, wanted)) return true;
  const copied = versionOfImage(shape.sidecarImage);
  if (copied !== undefined && formatVersion(copied) === formatVersion(wanted)) return true;
  // What the monitor runs with now it has found.
  return versionIn(shape.currentConfiguration ?? "") === formatVersion(wanted);
}

/**
 * The version to name in the ConfigMap instead of `version`: the first of the same protocol that every pod can start.
 * A pod that runs with a copied binary is made anew before the ConfigMap names a version that it does not have.
 */
export function startableVersion(
  snapshot: Snapshot,
  version: string,
  runningVersion: string,
): string {
  const target = parseVersion(version);
  if (target === undefined) return version;
  const pods = [...snapshot.pods.values()].filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  const fits = (text: string | undefined): text is string => {
    const other = parseVersion(text ?? "");
    if (text === undefined || other === undefined) return false;
    if (!isProtocolCompatible(other, target)) return false;
    return pods.every((pod) => canStartVersion(snapshot, pod, other) !== false);
  };
  return [version, announcedVersion(snapshot), runningVersion].find(fits) ?? version;
}

/** The versions that pods were made for, by their images; sorted. */
export function versionsOfPods(snapshot: Snapshot): string[] {
  const found = new Set<string>();
  for (const pod of snapshot.pods.values()) {
    const version = snapshot.memory.once(versionOfPod, pod);
    if (version !== undefined) found.add(formatVersion(version));
  }
  return [...found].sort();
}

/**
 * Those that servers of the pod may run: that of its image, and one that a sidecar brought and new servers start with. Of
 * which of them the present ones are, no pod tells. Empty where nothing tells a version.
 */
export function versionsOfServers(view: Remembering, pod: Stored<Pod>): readonly Version[] {
  return view.memory.once(serverVersions, pod);
}

function serverVersions(pod: Stored<Pod>, memory: Remembering["memory"]): readonly Version[] {
  const shape = shapeOfPod({ memory }, pod);
  const brought =
    shape.imageType === "unified"
      ? [parseVersion(versionIn(shape.currentConfiguration ?? "") ?? "")]
      : [versionOfImage(shape.sidecarImage), versionOfImage(shape.runningSidecarImage)];
  return oneOfEachProtocol([versionOfPod(pod), ...brought].flatMap((version) => version ?? []));
}

/** By its image; undefined when that does not tell it. */
export function versionOfPod(pod: Stored<Pod>): ReturnType<typeof parseVersion> {
  const main = pod.spec?.containers.find(({ name }) => name === mainContainerName);
  return versionOfImage(main?.image);
}

/** By the beginning of the tag; a suffix may follow. */
export function versionOfImage(image = ""): ReturnType<typeof parseVersion> {
  const [text = ""] = /^\d+\.\d+\.\d+(-rc\d+)?/.exec(tagOf(image) ?? "") ?? [];
  return parseVersion(text);
}

// Which version the stored ConfigMap tells the monitors of unified pods to run. Rules: spec/upgrade.md [U22]-[U24], [U55], [U93].
/** Whether the stored ConfigMap names the wanted version; true where it names none. */
export function isAnnounced(snapshot: Snapshot): boolean {
  const wanted = parseVersion(snapshot.cluster.spec.version);
  const name = wanted === undefined ? "" : formatVersion(wanted);
  const announced = announcements(snapshot);
  return snapshot.configMap !== undefined && announced.every((version) => version === name);
}

/** The one version that the stored ConfigMap names; where there is none, the newest that pods took over from it. */
export function announcedVersion(snapshot: Snapshot): string | undefined {
  if (snapshot.configMap === undefined) return newestTakenOver(snapshot);
  const [first, ...others] = new Set(announcements(snapshot));
  return others.length === 0 ? first : undefined;
}

/** By the configurations with which monitors of unified pods start servers. */
function newestTakenOver(snapshot: Snapshot): string | undefined {
  const found = [...snapshot.pods.values()].flatMap((pod) => {
    const { currentConfiguration = "" } = shapeOfPod(snapshot, pod);
    return parseVersion(versionIn(currentConfiguration) ?? "") ?? [];
  });
  const newest = found.toSorted(compareVersions).at(-1);
  return newest === undefined ? undefined : formatVersion(newest);
}

export function announcements(
  snapshot: Pick<Snapshot, "cluster" | "memory"> & { configMap?: Snapshot["configMap"] },
): (string | undefined)[] {
  // Entries that the resource itself gives are not the operator's to announce anything with.
  const given = snapshot.cluster.spec.configMap?.data ?? {};
  if (snapshot.configMap === undefined) return [];
  return snapshot.memory
    .once(versionsInConfigMap, snapshot.configMap)
    .filter(({ key }) => given[key] === undefined)
    .map(({ version }) => version);
}

function versionsInConfigMap({ data = {} }: Stored<ConfigMap>): {
  readonly key: string;
  readonly version: string | undefined;
}[] {
  return Object.entries(data)
    .filter(([key]) => key.startsWith("fdbmonitor-conf-") && key.endsWith("-json"))
    .map(([key, text]) => ({ key, version: versionIn(text) }));
}

/** Of a monitor's configuration. */
export function versionIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const version = (value as { version?: unknown } | null)?.version;
    return typeof version === "string" ? version : undefined;
  } catch {
    // A person may overlay the entry with anything; it announces nothing then.
    return undefined;
  }
}
