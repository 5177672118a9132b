// A version that all processes change to at once begins in a maintenance window, with its preparation: a process that restarts
// in a prepared pod is lost to the others, so nothing is prepared hours before. Until then everything is kept in order for the
// version that runs. Rules: spec/windows.md [WIN13], [WIN14].
import { isIncompatibleUpgrade } from "../view/running-version.ts";
import type { Snapshot } from "../snapshot.ts";
import { windowState } from "./window-state.ts";
import { preparedVersions } from "./prepared-versions.ts";

export function withVersionInWindow(snapshot: Snapshot): Snapshot {
  const { cluster } = snapshot;
  const { spec, status } = cluster;
  const running = status?.runningVersion ?? spec.version;
  if (status?.configured !== true || !isIncompatibleUpgrade(running, spec.version)) return snapshot;
  if (windowState(snapshot).kind === "open") return snapshot;
  if (preparedVersions(snapshot, running).length > 0) return snapshot;
  // The restart may be the reason why nobody reports which version runs.
  if (snapshot.database.kind !== "seen") return snapshot;
  return { ...snapshot, cluster: { ...cluster, spec: { ...spec, version: running } } };
}

/** The version that waits; undefined when none does. */
export function heldVersion({ cluster, storedSpec }: Snapshot): string | undefined {
  const wanted = storedSpec?.version ?? cluster.spec.version;
  return wanted === cluster.spec.version ? undefined : wanted;
}
