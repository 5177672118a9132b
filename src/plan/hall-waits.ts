// What is missing for the halls of a mode, in so many words. Rules: spec/halls.md [HALL12].
import { hallSpreadOf } from "../api/hall-spread.ts";
import { redundancyOf } from "../model/redundancy.ts";
import { hallsOffered, zonesOffered } from "./halls-offered.ts";
import { zoneCount, zonesPerHallMin } from "./hall-policy.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";
import type { NewWait } from "./wait.ts";

const step = "addProcessGroups";

/** What is missing for the halls of the wanted mode, one wait for all of it. */
export function hallWaits(snapshot: Snapshot, draft: Draft): NewWait[] {
  const spread = hallSpreadOf(snapshot.cluster.spec);
  if (spread === undefined) return [];
  const { mode } = redundancyOf(draft.desired.configuration.redundancy_mode);
  for (const processClass of Object.keys(draft.desired.counts)) {
    const offered = hallsOffered(snapshot, draft.groups, processClass);
    if (offered === undefined) return [];
    if (!offered.ok) return [hallWait(`${mode}: ${offered.problem}`, offered.remedy)];
    if (spread.hallsNeeded === undefined) continue;
    const zones = zonesOffered(snapshot, processClass);
    if (zones === undefined) continue;
    const lacks = offered.halls.flatMap((hall) => {
      const count = zones.get(hall)?.size ?? 0;
      if (count >= zonesPerHallMin) return [];
      return `hall ${hall} has ${zoneCount(count)}, at least ${zonesPerHallMin} needed`;
    });
    if (lacks.length === 0) continue;
    const remedy = "Add nodes in other fault domains of the hall named.";
    return [hallWait(`${mode}: ${lacks.join("; ")}`, remedy)];
  }
  return [];
}

function hallWait(message: string, remedy: string): NewWait {
  return { step, reason: "HallsMissing", message, remedy, retryAfterMs: 15_000 };
}
