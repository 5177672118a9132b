// Step updatePods, its early half: outdated pods without a process are made anew at once, those that have not started
// and those of which the database has never seen one. It comes before everything that waits for running pods, so that a
// corrected image or template takes effect also where nothing runs yet. Rules: spec/restart.md [T42], [T58], [T100].
import { automationOf } from "../../api/effective.ts";
import type { DisruptiveAction } from "../action.ts";
import { earlyDeletion } from "./early-pods.ts";
import { heldWait, hold, isHold, sentence } from "../hold.ts";
import { refusalHold } from "../safety/refusal.ts";
import type { Hold } from "../hold.ts";
import { evidenceOf, needsLock, refusalOf, statusProblemOf } from "../safety/act-evidence.ts";
import type { Evidence } from "../safety/act-evidence.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { holdsTlsSwitch } from "../view/tls-switch.ts";
import { idlePods, interruptionOf, youngPodMs } from "./outdated-pods.ts";
import { deletionOf, leftAlone, purposeOf, updatingEvent } from "./next-pods.ts";
import type { PodUpdate } from "./outdated-pods.ts";
import { ownTimeMs } from "../view/server-time.ts";

const step = "updatePods";

export function updateIdlePods(snapshot: Snapshot, draft: Draft): StepResult {
  const { unstarted, unreported } = idlePods(snapshot, draft);
  const early = earlyDeletion(snapshot, draft);
  const idle = [...unstarted, ...(early?.updates ?? unreported)];
  if (idle.length === 0) return nothing;
  if (automationOf(snapshot.cluster.spec).deletionMode === "None") return leftAlone(idle);
  if (unstarted.length === 0) {
    return early?.result ?? planUnreported(snapshot, draft, unreported);
  }
  const evidenceMs = snapshot.database.kind === "seen" ? snapshot.database.observedMs : 0;
  const action: DisruptiveAction = {
    ...deletionOf("unstarted", unstarted),
    evidenceMs,
    needsLock: false,
  };
  const { actions = [], events = [], waits = [] } = early?.result ?? nothing;
  return {
    actions: [action, ...actions],
    events: [updatingEvent({ updates: unstarted }, "that have not started"), ...events],
    waits,
  };
}

/** Only a status that tells everything can say that a pod which runs is no part of the database. */
function planUnreported(snapshot: Snapshot, draft: Draft, all: readonly PodUpdate[]): StepResult {
  const first = all.filter(({ group, pod }) => holdsTlsSwitch(draft, group, pod));
  const updates = first.length > 0 ? first : all;
  const held = (why: Hold): StepResult => ({
    waits: [heldWait(step, { ...why, reason: "PodUpdateHeld" }, purposeOf(updates))],
  });
  const evidence = evidenceFor(snapshot, draft, updates);
  if (isHold(evidence)) return held(evidence);
  const { evidenceMs } = evidence;
  const action: DisruptiveAction = {
    ...deletionOf("update", updates),
    evidenceMs,
    needsLock: needsLock(snapshot),
  };
  const refusal = refusalOf(snapshot, draft.groups, action);
  if (refusal !== undefined) return held(refusalHold(refusal));
  const events = [updatingEvent({ updates }, "that the database has never seen")];
  return { actions: [action], events };
}

function evidenceFor(
  snapshot: Snapshot,
  draft: Draft,
  updates: readonly PodUpdate[],
): Evidence | Hold {
  const interruption = interruptionOf(draft);
  const isFirst = updates.every(({ group, pod }) => holdsTlsSwitch(draft, group, pod));
  if (interruption !== undefined && !isFirst) return interruption;
  const evidence = evidenceOf(snapshot, draft);
  if (isHold(evidence)) return evidence;
  const gap = statusProblemOf(snapshot);
  const young = updates.find(({ pod }) => {
    const createdMs = ownTimeMs(snapshot, pod.metadata.creationTimestamp) ?? 0;
    return snapshot.nowMs - createdMs < youngPodMs;
  });
  if (gap === undefined && young === undefined) return evidence;
  const name = young?.pod.metadata.name ?? "";
  const why = gap ?? `The processes of pod ${name} have not started yet`;
  return hold("PodUpdateHeld", sentence(why), "Nothing for a while; then look at that pod.", 2_000);
}
