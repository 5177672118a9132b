// Step growVolumes: claims that ask for less than volumeClaimTemplate does are told to ask for more, one fault domain after
// the other. The volume grows under its pod: nothing is replaced, and no data moves. Rules: spec/volumes.md [VOL1]-[VOL9].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { conditionIn } from "../../kube/condition.ts";
import type { PersistentVolumeClaim } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { counted } from "../../model/counted.ts";
import { hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import type { Action } from "../action.ts";
import { zoneOfGroup } from "../safety/view.ts";
import { volumeProblem } from "../safety/volumes.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import type { DesiredObject } from "../view/desired.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";
import { growthTrouble } from "./resize-conditions.ts";
import { claimDifference, isGrowing, refusedGrowth, requestOf } from "./size-change.ts";

const step = "growVolumes";

type Claim = Stored<PersistentVolumeClaim>;

interface Volume {
  readonly group: ProcessGroup;
  readonly claim: Claim;
  readonly wanted: DesiredObject<Claim>;
  /** Its fault domain. */
  readonly zone: string;
}

interface Volumes {
  readonly toGrow: readonly Volume[];
  /** The API server has said that they cannot; it is asked again now and then, since their class may change. */
  readonly refused: readonly Volume[];
  /** Told to, be it to another size than the template has by now: those are also among the others. */
  readonly growing: readonly Volume[];
  readonly tooLarge: readonly Volume[];
}

export function growVolumes(snapshot: Snapshot, draft: Draft): StepResult {
  const { toGrow, refused, growing, tooLarge } = volumesOf(snapshot, draft);
  if ([toGrow, refused, growing, tooLarge].every((list) => list.length === 0)) return nothing;
  const awaited = growing.filter((volume) => !isUnderFence(volume));
  const zones = new Set(awaited.map(({ zone }) => zone));
  const [first] = toGrow.map(({ zone }) => zone).sort();
  if (zones.size === 0 && first !== undefined) zones.add(first);
  const next = toGrow.filter(({ zone }) => zones.has(zone));
  const waits = [
    ...(tooLarge.length === 0 ? [] : [refusedShrink(tooLarge)]),
    ...troubleOf(growing),
    ...(toGrow.length + growing.length === 0 ? [] : [growth(toGrow, growing)]),
  ];
  // A size that is refused is told, and keeps no database from falling asleep.
  const isToSleep = snapshot.cluster.spec.hibernate === true;
  const isUnfinished = toGrow.length + growing.length > 0 || (tooLarge.length > 0 && !isToSleep);
  return { actions: [...next, ...refused].map(actionOf), waits, isUnfinished };
}

function volumesOf(snapshot: Snapshot, draft: Draft): Volumes {
  const toGrow: Volume[] = [];
  const refused: Volume[] = [];
  const growing: Volume[] = [];
  const tooLarge: Volume[] = [];
  for (const group of draft.groups) {
    const wanted = draft.desired.pvc(group);
    if (wanted === undefined || isMarkedForRemoval(group)) continue;
    const claim = snapshot.pvcs.get(wanted.object.metadata.name ?? "");
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) continue;
    const difference = claimDifference(snapshot, draft.desired, claim, wanted);
    const isOnItsWay = isGrowing(claim);
    if (difference === "other" || (difference === "none" && !isOnItsWay)) continue;
    if (volumeProblem(snapshot, group) !== undefined) continue;
    const volume = { group, claim, wanted, zone: zoneOfGroup(snapshot, group) };
    if (isOnItsWay) growing.push(volume);
    if (difference === "toGrow") toGrow.push(volume);
    else if (difference === "tooLarge") tooLarge.push(volume);
    else if (difference === "cannotGrow" && isTried(snapshot, claim)) refused.push(volume);
  }
  return { toGrow, refused, growing, tooLarge };
}

/** It has grown, but for its file system, which waits for a pod that a person keeps from starting. */
function isUnderFence({ group, claim }: Volume): boolean {
  const pending = conditionIn(claim.status, "FileSystemResizePending");
  return pending?.status === "True" && hasCondition(group, "Fenced");
}

function isTried(snapshot: Snapshot, { metadata }: Claim): boolean {
  return snapshot.memory.once(refusedGrowth, snapshot).tried.has(metadata.name ?? "");
}

function actionOf({ group, claim, wanted }: Volume): Action {
  const { name = "", uid = "", resourceVersion = "" } = claim.metadata;
  return {
    type: "growPvc",
    step,
    basis: { name, uid, resourceVersion },
    size: requestOf(wanted.object),
    specHash: wanted.specHash,
    processGroupId: group.processGroupID,
  };
}

function idsOf(volumes: readonly Volume[]): string {
  return nameList(volumes.map(({ group }) => group.processGroupID));
}

function growth(toGrow: readonly Volume[], growing: readonly Volume[]): NewWait {
  const names = new Set(growing.map(({ claim }) => claim.metadata.name));
  const later = toGrow.filter(({ claim }) => !names.has(claim.metadata.name)).length;
  const left = later === 0 ? "" : ` ${counted(later, "volume")} of others follow after them`;
  const message =
    growing.length === 0
      ? `${counted(toGrow.length, "volume")} will be made larger in place: ${idsOf(toGrow)}`
      : `Volumes are made larger in place, one fault domain after the other: ${idsOf(growing)}.${left}`;
  return { step, reason: "VolumesGrowing", message: message.trim(), retryAfterMs: 15_000 };
}

function troubleOf(growing: readonly Volume[]): NewWait[] {
  for (const { claim } of growing) {
    const trouble = growthTrouble(claim);
    if (trouble === undefined) continue;
    const name = claim.metadata.name ?? "";
    const message = `Volume claim ${name} does not grow to ${requestOf(claim)}: ${trouble}`;
    return [{ step, reason: "VolumeGrowthFailed", message, retryAfterMs: 30_000 }];
  }
  return [];
}

function refusedShrink(tooLarge: readonly Volume[]): NewWait {
  const wants = tooLarge.slice(0, 1).map(({ wanted }) => requestOf(wanted.object));
  const sizes = [...new Set(tooLarge.map(({ claim }) => requestOf(claim)))];
  const have = tooLarge.some(({ claim }) => isGrowing(claim)) ? "that have or are to get" : "with";
  const message =
    `volumeClaimTemplate asks for ${wants.join("")}, and a volume cannot be made smaller. ` +
    `${counted(tooLarge.length, "volume")} ${have} ${nameList(sizes)}: ${idsOf(tooLarge)}`;
  return { step, reason: "VolumeShrinkRefused", message, retryAfterMs: 60_000 };
}
