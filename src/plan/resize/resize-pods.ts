// Step resizePods: pods that should have other CPU and memory get them in place, one fault domain after the other. Nothing
// starts again and nothing is replaced. Rules: spec/pod-resize.md [SIZE1]-[SIZE3], [SIZE8], [SIZE9].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { counted } from "../../model/counted.ts";
import { hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import { isDisruptive } from "../action.ts";
import type { Action, ObjectBasis } from "../action.ts";
import { isHold } from "../hold.ts";
import { evidenceMsOf, evidenceOf, needsLock, refusalOf } from "../safety/act-evidence.ts";
import { zoneOfGroup } from "../safety/view.ts";
import { remedyOf } from "../reasons/registry.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";
import { isMarkedLower, resizeMark } from "./resize-mark.ts";
import { resizeStateOf } from "./resize-state.ts";
import type { ResizeState } from "./resize-state.ts";
import type { ContainerResize } from "./resource-change.ts";

const step = "resizePods";

interface Subject {
  readonly group: ProcessGroup;
  readonly pod: Stored<Pod>;
  /** Its fault domain. */
  readonly zone: string;
  readonly specHash: string;
}

type Of<K extends ResizeState["kind"]> = Subject & Extract<ResizeState, { kind: K }>;

type Resizable = Subject & {
  readonly lacking?: readonly ContainerResize[];
  readonly isLower?: true | undefined;
};

interface Found {
  readonly toResize: Of<"toResize">[];
  readonly resizing: Of<"resizing">[];
  readonly proving: Of<"proving">[];
  readonly done: Of<"done">[];
  readonly impossible: Of<"impossible">[];
}

export function resizePods(snapshot: Snapshot, draft: Draft): StepResult {
  const { toResize, resizing, proving, done, impossible } = podsOf(snapshot, draft);
  const all = [toResize, resizing, proving, done, impossible];
  if (all.every((list) => list.length === 0)) return nothing;
  const begun = [...resizing, ...proving];
  const held = heldLimits(snapshot, draft, toResize);
  const obstacle = begun.length > 0 ? undefined : silentOne(snapshot, draft, toResize);
  const zones = new Set(begun.map(({ zone }) => zone));
  const free = toResize.filter(({ isLower }) => held === undefined || isLower !== true);
  const [first] = free.map(({ zone }) => zone).sort();
  const isFree = zones.size === 0 && done.length === 0 && obstacle === undefined;
  if (isFree && first !== undefined) zones.add(first);
  const next = free.filter(({ zone }) => zones.has(zone));
  const waits = [
    ...(impossible.length === 0 ? [] : [impossibility(impossible)]),
    ...(toResize.length + begun.length === 0
      ? []
      : [progress({ toResize, resizing, proving }, { obstacle, held })]),
  ];
  // What the database has to be asked for is one act after the other.
  const asked = next.find((one) => isGuarded(snapshot, one));
  const chosen = next.filter((one) => one === asked || !isGuarded(snapshot, one));
  // Who was refused is asked for again now and then, and speaks for others meanwhile.
  const refused = impossible.filter(({ lacking }) => lacking !== undefined);
  const actions = [
    ...done.map((one) => noteOf(snapshot, one)),
    ...[...chosen, ...refused].map((one) => resizeOf(snapshot, one)),
  ];
  return { actions, waits, isUnfinished: true };
}

/** Before there is a database nobody is missed. */
function isGuarded({ cluster }: Snapshot, { isLower }: Pick<Resizable, "isLower">): boolean {
  return isLower === true && cluster.status?.configured === true;
}

/** Why no limit is lowered now, as a sentence that is empty where it passes by itself; undefined when it may be. */
function heldLimits(
  snapshot: Snapshot,
  draft: Draft,
  toResize: readonly Of<"toResize">[],
): string | undefined {
  const one = toResize.find((each) => isGuarded(snapshot, each));
  if (one === undefined) return undefined;
  const evidence = evidenceOf(snapshot, draft);
  if (isHold(evidence)) {
    const isSilent = evidence.reason.startsWith("Database");
    return isSilent ? ` Lower limits wait. ${evidence.message}.` : "";
  }
  const action = resizeOf(snapshot, one);
  const refusal = isDisruptive(action) ? refusalOf(snapshot, draft.groups, action) : undefined;
  if (refusal === undefined) return undefined;
  if (refusal.reason === "EvidenceStale" || refusal.reason === "ActInFlight") return "";
  return ` Lower limits wait until the database can spare a pod: ${refusal.message}.`;
}

function podsOf(snapshot: Snapshot, draft: Draft): Found {
  const view = viewOf(snapshot);
  const found: Found = { toResize: [], resizing: [], proving: [], done: [], impossible: [] };
  for (const group of draft.groups) {
    const { pod } = view.of(group);
    if (pod === undefined || isMarkedForRemoval(group)) continue;
    const state = resizeStateOf(snapshot, draft.desired, group, pod);
    if (state.kind === "none" || state.kind === "other") continue;
    const specHash = draft.desired.pod(group)?.specHash ?? "";
    const subject = { group, pod, zone: zoneOfGroup(snapshot, group), specHash };
    if (state.kind === "toResize") found.toResize.push({ ...subject, ...state });
    else if (state.kind === "resizing") found.resizing.push({ ...subject, ...state });
    else if (state.kind === "proving") found.proving.push({ ...subject, ...state });
    else if (state.kind === "done") found.done.push({ ...subject, ...state });
    else found.impossible.push({ ...subject, ...state });
  }
  return found;
}

const silentRemedy =
  "Look why that one does not serve (kubectl describe pod). If no node has what it asks for, or it is too little, correct the resources in the podTemplate.";

/** A process group of a class that waits, whose pod has its new resources and does not serve with them, as a sentence. */
function silentOne(
  snapshot: Snapshot,
  draft: Draft,
  toResize: readonly Subject[],
): string | undefined {
  const classes = new Set(toResize.map(({ group }) => group.processClass));
  const silent = draft.groups.find((group) => {
    if (!classes.has(group.processClass) || isMarkedForRemoval(group)) return false;
    if (hasCondition(group, "Fenced")) return false;
    if (!hasCondition(group, "MissingProcesses") && !hasCondition(group, "PodFailing"))
      return false;
    const { pod } = viewOf(snapshot).of(group);
    const note = pod?.metadata.annotations?.[annotationKeys.lastAppliedSpec];
    return note !== undefined && note === draft.desired.pod(group)?.specHash;
  });
  if (silent === undefined) return undefined;
  return ` They wait for ${silent.processGroupID}, which has them and does not serve.`;
}

function basisOf({ metadata }: Stored<Pod>): ObjectBasis {
  const { name = "", uid = "", resourceVersion = "" } = metadata;
  return { name, uid, resourceVersion };
}

function resizeOf(
  snapshot: Snapshot,
  { group, pod, specHash, lacking = [], isLower }: Resizable,
): Action {
  const resize = {
    step,
    basis: basisOf(pod),
    containers: lacking,
    // What was lowered and not proved is so still, whatever it gets now.
    mark: resizeMark(snapshot, specHash, isLower === true || isMarkedLower(pod)),
    specHash,
    processGroupId: group.processGroupID,
  };
  if (!isGuarded(snapshot, { isLower })) return { type: "resizePod", ...resize };
  const evidenceMs = evidenceMsOf(snapshot);
  return { type: "lowerLimits", ...resize, evidenceMs, needsLock: needsLock(snapshot) };
}

/** Of exactly the pod that was looked at. */
function noteOf(snapshot: Snapshot, { group, pod, specHash, isToBeProved }: Of<"done">): Action {
  const annotations = {
    [annotationKeys.lastAppliedSpec]: specHash,
    [annotationKeys.resizeTarget]:
      isToBeProved === true ? resizeMark(snapshot, specHash, true) : null,
  };
  const { processGroupID: processGroupId } = group;
  const patch = { annotations };
  return { type: "patchPod", step, basis: basisOf(pod), patch, isExact: true, processGroupId };
}

function idsOf(pods: readonly Subject[]): string {
  return nameList(pods.map(({ group }) => group.processGroupID));
}

function progress(
  { toResize, resizing, proving }: Pick<Found, "toResize" | "resizing" | "proving">,
  { obstacle, held = "" }: { obstacle: string | undefined; held: string | undefined },
): NewWait {
  const said = [...resizing, ...toResize].find((one) => one.said !== undefined);
  const words = said === undefined ? "" : ` Of ${said.group.processGroupID} is said: ${said.said}.`;
  const left =
    toResize.length === 0 ? "" : ` ${counted(toResize.length, "pod")} of others follow after them.`;
  const proof =
    proving.length === 0
      ? ""
      : ` With lower limits these have to serve for a minute: ${idsOf(proving)}.`;
  const message =
    resizing.length + proving.length === 0
      ? `${counted(toResize.length, "pod")} will get other CPU and memory in place: ${idsOf(toResize)}.${obstacle ?? held}${words}`
      : `Pods get other CPU and memory in place, one fault domain after the other: ${idsOf([...resizing, ...proving])}.${proof}${left}${words}`;
  const reason = "PodsResizing";
  const remedy = obstacle === undefined ? remedyOf(reason) : silentRemedy;
  return { step, reason, message, remedy, retryAfterMs: 15_000 };
}

function impossibility(impossible: readonly Of<"impossible">[]): NewWait {
  const why = impossible[0]?.why ?? "";
  const message =
    `${counted(impossible.length, "pod")} cannot get other CPU and memory in place and are made ` +
    `again as podUpdateStrategy says: ${idsOf(impossible)}: ${why}`;
  const event = { type: "Normal", reason: "PodResizeImpossible", message } as const;
  return { step, reason: "PodResizeImpossible", message, event, retryAfterMs: 30_000 };
}
