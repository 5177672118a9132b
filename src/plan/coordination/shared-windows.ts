// Maintenance windows of several instances of one database: each tells the others its own, and says so when they never meet, since
// what all of them have to be ready for never happens in the windows of all. Rules: spec/windows.md [WIN24], [WIN25].
import { maintenanceWindowsOf, windowsOfText, windowsText } from "../../api/maintenance-windows.ts";
import { doMeet } from "../../model/maintenance-windows.ts";
import { coordinationOf, isGlobal, livingPrefixes, ownPrefixOf } from "../view/shared-sets.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft, PlanWarning } from "../step.ts";
import { nameList } from "../wait.ts";

/** What the others are to know, when they know something else. */
export function windowsNews(
  snapshot: Snapshot,
  prefix: string,
  isLeaving: boolean,
): { windows?: string } {
  const { windows: known } = coordinationOf(snapshot) ?? {};
  if (known === undefined) return {};
  const wanted = isLeaving ? "" : windowsText(snapshot.storedSpec ?? snapshot.cluster.spec);
  return (known.get(prefix) ?? "") === wanted ? {} : { windows: wanted };
}

export function windowWarnings(snapshot: Snapshot, draft: Draft): PlanWarning[] {
  const own = maintenanceWindowsOf(snapshot.cluster.spec);
  if (own.length === 0 || !isGlobal(snapshot, draft.status)) return [];
  const { windows = new Map<string, string>() } = coordinationOf(snapshot) ?? {};
  const living = livingPrefixes(snapshot);
  const apart = [...windows]
    .filter(([prefix, text]) => {
      if (prefix === ownPrefixOf(snapshot) || !living.has(prefix)) return false;
      const theirs = windowsOfText(text);
      return theirs.length > 0 && !doMeet(own, theirs, snapshot.nowMs);
    })
    .map(([prefix]) => prefix)
    .sort();
  if (apart.length === 0) return [];
  const message =
    `The maintenance windows of this resource and those of instance ${nameList(apart)} of the same database are not open together in the next 35 days: ` +
    "what they do as one disturbs one of them outside of its windows, or waits for ever. Give them windows that overlap.";
  return [{ reason: "MaintenanceWindowsApart", message }];
}
