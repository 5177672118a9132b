// Which version the stored ConfigMap tells the monitors of unified pods to run. Rules: spec/upgrade.md [U22]-[U24], [U55].
import { formatVersion, parseVersion } from "../model/version.ts";
import type { Snapshot } from "./snapshot.ts";

/** Whether the stored ConfigMap names the wanted version; true where it names none. */
export function isAnnounced(snapshot: Snapshot): boolean {
  const wanted = parseVersion(snapshot.cluster.spec.version);
  const name = wanted === undefined ? "" : formatVersion(wanted);
  const announced = announcements(snapshot);
  return snapshot.configMap !== undefined && announced.every((version) => version === name);
}

/** The one version that the stored ConfigMap names. */
export function announcedVersion(snapshot: Snapshot): string | undefined {
  const [first, ...others] = new Set(announcements(snapshot));
  return others.length === 0 ? first : undefined;
}

export function announcements(
  snapshot: Pick<Snapshot, "cluster"> & { configMap?: Snapshot["configMap"] },
): (string | undefined)[] {
  // Entries that the resource itself gives are not the operator's to announce anything with.
  const given = snapshot.cluster.spec.configMap?.data ?? {};
  return Object.entries(snapshot.configMap?.data ?? {})
    .filter(([key]) => key.startsWith("fdbmonitor-conf-") && key.endsWith("-json"))
    .filter(([key]) => given[key] === undefined)
    .map(([, text]) => versionIn(text));
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
