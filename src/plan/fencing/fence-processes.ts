// Step fenceProcesses: stops the servers of process groups that a person wants to look at, in place, and starts them again when
// the wish is taken back. Stopping takes something away from the database, so it is one act of one fault domain, and waits for
// its turn like any other. Rules: spec/fencing.md.
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isIsolated, isMarkedFenced, unfencedAnnotations } from "../../build/fence.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { leastOf } from "../../env/long-lists.ts";
import { formatTime } from "../../kube/time.ts";
import { conditionOf, hasCondition } from "../../model/process-group.ts";
import type { Action, DisruptiveAction } from "../action.ts";
import { heldWait, isHold, sentence } from "../hold.ts";
import { evidenceOf, needsLock, refusalOf } from "../safety/act-evidence.ts";
import { remedyOf } from "../reasons/registry.ts";
import { zoneOfGroup } from "../safety/view.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, PlanEvent, StepResult } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";
import { fenceWish } from "../view/fence.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

const step = "fenceProcesses";

interface Member {
  readonly group: ProcessGroup;
  readonly pod: Stored<Pod>;
}

interface Fences {
  /** To be stopped. */
  readonly open: readonly Member[];
  /** Told to stop, and they still report. */
  readonly told: readonly Member[];
  /** Stopped. */
  readonly done: readonly Member[];
  /** Their image has no way to do it. */
  readonly unable: readonly Member[];
  /** Stopped by us, and nobody wants that any more. */
  readonly over: readonly Member[];
}

export function fenceProcesses(snapshot: Snapshot, draft: Draft): StepResult {
  const { fence = [] } = snapshot.cluster.spec;
  const fences = sortOut(snapshot, draft);
  const known = new Set(draft.groups.map((group) => group.processGroupID));
  const unknown = fence.filter((id) => !known.has(id));
  const isAnyFence = Object.values(fences).flat().length > 0;
  if (!isAnyFence && unknown.length === 0) return nothing;
  const waits = [
    ...(unknown.length === 0 ? [] : [unknownWait(unknown)]),
    ...(fences.unable.length === 0 ? [] : [unableWait(fences.unable)]),
    ...(fences.told.length === 0 ? [] : [toldWait(fences.told)]),
    ...(fences.done.length === 0 ? [] : [fencedWait(fences.done)]),
  ];
  const lifted = fences.over.map(liftOf);
  const events = fences.over.length === 0 ? [] : [liftEvent(fences.over)];
  const next = fences.open.length === 0 ? nothing : stopNext(snapshot, draft, fences.open);
  return {
    actions: [...lifted, ...(next.actions ?? [])],
    waits: [...waits, ...(next.waits ?? [])],
    events: [...events, ...(next.events ?? [])],
    // A name that nobody has is told, and keeps no database from falling asleep.
    isUnfinished: isAnyFence || snapshot.cluster.spec.hibernate !== true,
  };
}

/** Those that are to be stopped and have not been told. */
export function openFences(snapshot: Snapshot, draft: Draft): readonly ProcessGroup[] {
  return sortOut(snapshot, draft).open.map(({ group }) => group);
}

function sortOut(snapshot: Snapshot, draft: Draft): Fences {
  const found: Record<keyof Fences, Member[]> = {
    ...{ open: [], told: [], done: [], unable: [], over: [] },
  };
  for (const group of draft.groups) {
    const { pod, shape } = viewOf(snapshot).of(group);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    const isWished = fenceWish(snapshot, group) !== undefined;
    if (isWished) found[stateOf(group, pod, shape?.imageType)].push({ group, pod });
    else if (isMarkedFenced(pod)) found.over.push({ group, pod });
  }
  return found;
}

function stateOf(
  group: ProcessGroup,
  pod: Stored<Pod>,
  imageType: string | undefined,
): Exclude<keyof Fences, "over"> {
  if (imageType !== "unified") return "unable";
  if (!isIsolated(pod)) return "open";
  return hasCondition(group, "Fenced") ? "done" : "told";
}

/** All of one fault domain; those without anything to lose, and in fault domains that are down anyway, come first. */
function stopNext(snapshot: Snapshot, draft: Draft, open: readonly Member[]): StepResult {
  const what = `To be fenced: ${idsOf(open)}`;
  const evidence = evidenceOf(snapshot, draft);
  if (isHold(evidence)) {
    return { waits: [heldWait(step, { ...evidence, reason: "FenceHeld" }, what)] };
  }
  const { downZones } = snapshot.checks.budget(snapshot);
  const zones = [...Map.groupBy(open, ({ group }) => zoneOfGroup(snapshot, group))].sort(
    ([left], [right]) =>
      Number(downZones.has(right)) - Number(downZones.has(left)) || (left < right ? -1 : 1),
  );
  let why = "";
  for (const [zone, members] of zones) {
    const action: DisruptiveAction = {
      type: "fencePods",
      step,
      pods: members.map(({ group, pod }) => ({
        basis: basisOf(pod),
        processGroupId: group.processGroupID,
      })),
      evidenceMs: evidence.evidenceMs,
      needsLock: needsLock(snapshot),
    };
    const refusal = refusalOf(snapshot, draft.groups, action);
    if (refusal === undefined) {
      const message = `Stopping the processes of ${idsOf(members)} in fault domain ${zone}; pods and volumes stay`;
      const rest = open.filter((member) => !members.includes(member));
      return {
        actions: [action],
        events: [{ type: "Normal", reason: "FencingProcesses", message }],
        waits: rest.length === 0 ? [] : [heldOf(rest, "One fault domain follows the other")],
      };
    }
    why ||= sentence(refusal.message);
  }
  return { waits: [heldOf(open, why)] };
}

function heldOf(open: readonly Member[], why: string): NewWait {
  const held = { reason: "FenceHeld", message: why, remedy: remedyOf("FenceHeld") } as const;
  return heldWait(step, { ...held, retryAfterMs: 5_000 }, `To be fenced: ${idsOf(open)}`);
}

function liftOf({ group, pod }: Member): Action {
  const patch = { annotations: unfencedAnnotations };
  const processGroupId = group.processGroupID;
  return { type: "patchPod", step, basis: basisOf(pod), patch, processGroupId };
}

function liftEvent(over: readonly Member[]): PlanEvent {
  const message = `Starting the processes of ${idsOf(over)} again: nobody asks for the fence any more`;
  return { type: "Normal", reason: "UnfencingProcesses", message };
}

function basisOf({ metadata }: Stored<Pod>) {
  const { name = "", uid = "", resourceVersion = "" } = metadata;
  return { name, uid, resourceVersion };
}

function idsOf(members: readonly Member[]): string {
  return nameList(members.map(({ group }) => group.processGroupID));
}

function unknownWait(ids: readonly string[]): NewWait {
  const message = `spec.fence names ${nameList(ids)}, and there is no such process group`;
  return { step, reason: "FenceUnknown", message, retryAfterMs: 600_000 };
}

function unableWait(members: readonly Member[]): NewWait {
  const message = `${idsOf(members)} cannot be fenced: pods of the split image have no way to stop a server in place`;
  return { step, reason: "FenceRefused", message, retryAfterMs: 600_000 };
}

function toldWait(members: readonly Member[]): NewWait {
  const message = `The monitors of ${idsOf(members)} were told to stop their servers, and the database still sees them`;
  return { step, reason: "FencePending", message, retryAfterMs: 5_000, isForDatabase: true };
}

/** Only a person ends it, who has to find out how. */
function fencedWait(members: readonly Member[]): NewWait {
  const begins = members.map(({ group }) => conditionOf(group, "Fenced")?.timestamp ?? 0);
  const since = formatTime(leastOf(begins) * 1000);
  const [is, their] = members.length === 1 ? ["is", "its"] : ["are", "their"];
  return {
    step,
    reason: "ProcessGroupFenced",
    message: `${idsOf(members)} ${is} fenced since ${since}: ${their} processes are stopped, pod and volume stay as they are`,
    remedy:
      `To start ${members.length === 1 ? "it" : "them"} again, take ${members.length === 1 ? "it" : "them"} out of spec.fence, ` +
      `or take the annotation ${annotationKeys.fence} off the pod.`,
    retryAfterMs: 600_000,
  };
}
