// Pods before there is a database: what was specified wrongly is made right at once. Outdated pods are made anew in place.
// Process groups that are to go cannot be excluded and removed yet: where their pods take the room of their successors,
// the pods go first. Volumes stay until a database proves them empty; then the pods come back to be excluded.
// Rules: spec/restart.md [T100], spec/removal.md [R110], spec/safety.md [S140], spec/adoption.md [ADO22], [ADO24].
import { isAdopting } from "../../api/adoption.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import { hasOtherLocality } from "../replacement/locality-change.ts";
import { isUnstarted, misconfigurationOf } from "../replacement/misconfiguration.ts";
import { packingChangeOf } from "../placement/packing-migration.ts";
import { isToBeMadeAgain } from "../resize/resize-state.ts";
import { podConfigurationState } from "../view/pod-configuration.ts";
import { evidenceMsOf, refusalOf } from "../safety/act-evidence.ts";
import { isCoordinator } from "../safety/coordinators.ts";
import {
  databaseDoubt,
  isBeforeDatabase,
  isBoundToAddress,
  passingSilence,
} from "../safety/no-database.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft, PlanEvent, StepResult } from "../step.ts";
import { heldWait, hold } from "../hold.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";
import { deletionOf, podNames, purposeOf, updatingEvent } from "./next-pods.ts";
import { zoneOf } from "./outdated-pods.ts";
import type { PodUpdate } from "./outdated-pods.ts";
import { viewOf } from "../view/cluster-view.ts";
import { isWithinReach } from "../view/version-to-ask.ts";
import { youngServers } from "../view/young-servers.ts";

/** What goes at once because there is no database, and how; undefined when there may be one. */
export function earlyDeletion(
  snapshot: Snapshot,
  draft: Draft,
): { updates: readonly PodUpdate[]; result: StepResult } | undefined {
  if (!isBeforeDatabase(snapshot) || databaseDoubt(snapshot) !== undefined) return undefined;
  const all = podsOf(snapshot, draft, isToRenew);
  const young = youngServers(snapshot);
  const passing = passingSilence(snapshot);
  const outdated = passing === undefined ? all.filter(({ pod }) => young(pod) === undefined) : [];
  const staying = all.filter((update) => !outdated.includes(update));
  const waits = waitsFor(staying, passing ?? youngText(staying, young));
  const inTheWay = podsOf(snapshot, draft, isInTheWay(snapshot, draft));
  const updates = [...all, ...inTheWay];
  const going = [...outdated, ...inTheWay];
  const evidenceMs = evidenceMsOf(snapshot);
  const action = { ...deletionOf("early", going), evidenceMs, needsLock: false };
  if (going.length === 0 || refusalOf(snapshot, draft.groups, action) !== undefined) {
    return { updates, result: { waits } };
  }
  const events: PlanEvent[] = [];
  if (outdated.length > 0) {
    events.push(updatingEvent({ updates: outdated }, "before the database is created"));
  }
  if (inTheWay.length > 0) {
    const message = `Deleting pods that take the room of their successors: ${podNames(inTheWay)}`;
    events.push({ type: "Normal", reason: "UpdatingPods", message });
  }
  return { updates, result: { actions: [action], events, waits } };
}

/** What serves a moment later would be taken down as a whole, and what is outdated then is made anew in turn. */
function waitsFor(staying: readonly PodUpdate[], why: string): NewWait[] {
  if (staying.length === 0) return [];
  const message = `The database may be about to serve: ${why}`;
  const remedy = "Nothing: it happens then, in turn where the database serves by then.";
  const held = hold("PodUpdateHeld", message, remedy, 2_000);
  return [heldWait("updatePods", held, purposeOf(staying))];
}

function youngText(staying: readonly PodUpdate[], young: ReturnType<typeof youngServers>): string {
  const names = new Set(staying.map(({ pod }) => young(pod) ?? ""));
  return `servers have run for less than a minute in ${nameList([...names])}`;
}

type Question = (
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: PodUpdate["pod"],
) => boolean;

function podsOf(snapshot: Snapshot, draft: Draft, isWanted: Question): PodUpdate[] {
  return draft.groups.flatMap((group) => {
    const pod = viewOf(snapshot).of(group).pod;
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    // Pods of the version that was asked for go first; those of others when they have been asked for, too.
    if (!isWithinReach(snapshot, snapshot.database, pod)) return [];
    if (!isWanted(snapshot, draft, group, pod)) return [];
    return [{ group, pod, zone: zoneOf(snapshot, group, pod) }];
  });
}

/** It runs, and it is outdated or its processes were started with another locality. */
function isToRenew(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  pod: PodUpdate["pod"],
): boolean {
  if (isUnstarted(pod) || isBoundToAddress(snapshot, group)) return false;
  const { cluster } = snapshot;
  // Data that is on its way back may be needed, whoever leaves or is replaced afterwards.
  if (!isAdopting(cluster)) {
    if (isMarkedForRemoval(group)) return false;
    if (packingChangeOf(cluster.spec, group) !== undefined) return false;
  }
  if (misconfigurationOf(snapshot, draft.desired, group) !== undefined) return false;
  if (isToBeMadeAgain(snapshot, draft.desired, group, pod)) return true;
  return (
    hasCondition(group, "IncorrectCommandLine") &&
    podConfigurationState(snapshot, draft.desired, group, pod) === "current" &&
    hasOtherLocality(snapshot, draft.desired, group, pod)
  );
}

/** While a pod of a process group that stays finds no node. */
function isInTheWay(snapshot: Snapshot, draft: Draft): Question {
  const isWaiting = draft.groups.some((group) => {
    const pod = viewOf(snapshot).of(group).pod;
    const isUnplaced = pod !== undefined && (pod.spec?.nodeName ?? "") === "";
    return !isMarkedForRemoval(group) && isUnplaced && isUnstarted(pod);
  });
  return (_, __, group) => isWaiting && isWithoutPod(snapshot, group);
}

/** Whether a process group does without a pod until there is a database. Coordinators serve on: nobody else can. */
export function isWithoutPod(snapshot: Snapshot, group: ProcessGroup): boolean {
  if (!isMarkedForRemoval(group) || !isBeforeDatabase(snapshot)) return false;
  if (isAdopting(snapshot.cluster)) return false;
  return !isCoordinator(snapshot, databaseStatus(snapshot) ?? {}, group);
}
