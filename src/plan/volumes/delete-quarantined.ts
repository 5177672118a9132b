// Step deleteQuarantined: volumes whose quarantine is over are deleted, by the certificate that is noted on them and only
// while the database is well. Rules: spec/quarantine.md [QUA4]-[QUA7].
import type { DisruptiveAction } from "../action.ts";
import { evidenceMsOf, isOccupied, refusalOf } from "../safety/act-evidence.ts";
import { isQuarantineOver, keptBecause } from "../safety/quarantine.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";

/** One act takes so many; the others follow in the next pass. */
const claimsMaximum = 20;

export function deleteQuarantined(snapshot: Snapshot, draft: Draft): StepResult {
  const due = [...(snapshot.quarantined?.values() ?? [])].filter(
    (claim) =>
      claim.metadata.deletionTimestamp === undefined &&
      isQuarantineOver(snapshot, claim) &&
      keptBecause(snapshot, claim) === undefined,
  );
  if (due.length === 0 || isOccupied(snapshot, draft)) return nothing;
  const claims = due.slice(0, claimsMaximum).map(({ metadata }) => {
    const { name = "", uid = "", resourceVersion = "" } = metadata;
    return { name, uid, resourceVersion };
  });
  const action: DisruptiveAction = {
    type: "deleteQuarantined",
    step: "deleteQuarantined",
    evidenceMs: evidenceMsOf(snapshot),
    needsLock: false,
    claims,
  };
  // Nothing is wrong with a cluster whose old volumes stay for longer: it is tried again when the database is well.
  if (refusalOf(snapshot, draft.groups, action) !== undefined) return nothing;
  const names = claims.map(({ name }) => name).join(", ");
  const message = `Deleting volume claims whose quarantine is over: ${names}`;
  return {
    actions: [action],
    events: [{ type: "Normal", reason: "QuarantineOver", message }],
  };
}
