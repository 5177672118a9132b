// An upgrade that was overtaken by the wish for another version just when all processes restarted: while nobody reports,
// the version that was prepared may be the one that runs. Rules: spec/upgrade.md [U38].
import { tagOf } from "../build/images.ts";
import { formatVersion, parseVersion } from "../model/version.ts";
import { shapeOfPod } from "./pod-shape.ts";
import { databaseStatus } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";

/** After the restart of all processes a client of the old version reaches nobody. */
export function isSilent(snapshot: Snapshot): boolean {
  const status = databaseStatus(snapshot);
  if (Object.keys(status?.cluster?.processes ?? {}).length === 0) return true;
  return snapshot.ledger.some((entry) => entry.type === "killProcesses");
}

/** The version of most sidecars, when it neither runs nor is wanted and nobody reports. */
export function overtakenVersion(snapshot: Snapshot, runningVersion: string): string | undefined {
  if (!isSilent(snapshot)) return undefined;
  const counts = new Map<string, number>();
  for (const pod of snapshot.pods.values()) {
    const tag = tagOf(shapeOfPod(pod).sidecarImage ?? "") ?? "";
    const version = parseVersion(tag.replace(/-\d+$/, ""));
    if (version === undefined) continue;
    const text = formatVersion(version);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, left], [, right]) => right - left);
  const [version] = most ?? [];
  const isKnown = version === runningVersion || version === snapshot.cluster.spec.version;
  return isKnown ? undefined : version;
}
