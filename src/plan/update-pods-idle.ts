// Step updatePods, its early half: outdated pods that have not started are made anew at once. It comes before everything
// that waits for running pods, so that a corrected image or template takes effect also where nothing runs yet.
// Rules: spec/restart.md [T42].
import { automationOf } from "../api/effective.ts";
import { databaseStatus } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import { nothing } from "./step.ts";
import type { Draft, StepResult } from "./step.ts";
import { deletionOf, leftAlone, updatingEvent } from "./update-pods-order.ts";
import { idlePods } from "./update-pods-selection.ts";

export function planIdlePods(snapshot: Snapshot, draft: Draft): StepResult {
  const idle = idlePods(snapshot, draft, databaseStatus(snapshot));
  if (idle.length === 0) return nothing;
  if (automationOf(snapshot.cluster.spec).deletionMode === "None") return leftAlone(snapshot, idle);
  const evidenceMs = snapshot.database.kind === "seen" ? snapshot.database.observedMs : 0;
  return {
    actions: [{ ...deletionOf("unstarted", idle), evidenceMs, needsLock: false }],
    events: [updatingEvent({ updates: idle }, "that have not started")],
  };
}
