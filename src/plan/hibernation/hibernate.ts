// Step hibernate, twice in the chain: at its beginning it keeps a stopped database stopped, and says why one that is to
// sleep does not; at its end, when nothing else is left to do, it stops the database. Rules: spec/hibernation.md [HIB1], [HIB8]-[HIB11].
import type { RoutingSpec } from "../../api/cluster-options.ts";
import { routingOf } from "../../api/effective.ts";
import { isAvailable } from "../../model/availability.ts";
import { isHibernated } from "../../api/hibernation.ts";
import { conditionIn } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import type { Action, PodOrder } from "../action.ts";
import { evidenceMsOf, needsLock } from "../safety/act-evidence.ts";
import { hasStopBegun, sleepObstacles } from "../safety/sleep-obstacles.ts";
import type { Obstacle } from "../safety/sleep-obstacles.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, PlanEvent, StepResult } from "../step.ts";
import { viewOf, withGroups } from "../view/cluster-view.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import type { NewWait } from "../wait.ts";
import { sleepingServices } from "./sleeping-services.ts";
import { nameList } from "../wait.ts";

const step = "hibernate";

/** The database sleeps, or its pods are going for it. */
export function isStopped(snapshot: Pick<Snapshot, "cluster" | "pods" | "memory">): boolean {
  return isHibernated(snapshot.cluster) && hasStopBegun(snapshot);
}

/** At the beginning of the chain. */
export function hibernate(snapshot: Snapshot, draft: Draft): StepResult {
  if (snapshot.cluster.spec.hibernate !== true) return nothing;
  if (isStopped(snapshot)) return { ...keepStopped(snapshot, draft), stop: true };
  const obstacles = sleepObstacles(withGroups(snapshot, draft.groups));
  if (obstacles.length > 0) {
    const told = { waits: obstacles.map(waitOf), isUnfinished: true };
    // A stop that was decided and not begun is taken back; how a database that wakes is found is not forgotten.
    const isWaking = draft.facts.waking !== undefined;
    return isWaking ? told : { ...told, status: { hibernation: undefined } };
  }
  // What woke is awake now: the next pass decides anew.
  if (draft.facts.waking !== undefined) return { isUnfinished: true };
  if (!isHibernated(snapshot.cluster)) return nothing;
  return { actions: stopOf(snapshot, draft), stop: true };
}

/** At the end of the chain. */
export function fallAsleep(snapshot: Snapshot, draft: Draft): StepResult {
  const { spec, metadata } = snapshot.cluster;
  if (spec.hibernate !== true || isHibernated(snapshot.cluster)) return nothing;
  if (sleepObstacles(withGroups(snapshot, draft.groups)).length > 0) return nothing;
  if (isToAct(draft) || draft.isUnfinished || snapshot.runningCommand !== undefined) {
    const message = "What the operator is about to do for the database comes first";
    const wait = { step, reason: "HibernationHeld", message, retryAfterMs: 5_000 } as const;
    return { waits: [wait], isUnfinished: true };
  }
  const routing = livingRouting(snapshot);
  const since = formatTime(snapshot.nowMs);
  // What waited for a window is brought about after the sleep, so its generation is not in force.
  const generation = draft.isHeldByWindow
    ? snapshot.cluster.status?.generations?.reconciled
    : metadata.generation;
  const hibernation = {
    since,
    ...(generation === undefined ? {} : { generation }),
    ...(routing && { routing }),
  };
  return {
    status: { hibernation },
    actions: stopOf(snapshot, draft),
    events: [event("Hibernating", "All pods of the database are stopped at once; volumes stay")],
  };
}

/** Growth that has not failed is unfinished work; another try at a claim whose class cannot grow is none. */
function isToAct({ actions }: Draft): boolean {
  return actions.some(({ type }) => type !== "growPvc");
}

/** Pods have the IP family that they were made for: another one may wait for a window, and names lead to the old one. */
function livingRouting(snapshot: Snapshot): RoutingSpec | undefined {
  const { spec } = snapshot.cluster;
  const families = new Set(
    [...snapshot.pods.values()].map((pod) => shapeOfPod(snapshot, pod).ipFamily),
  );
  const [family] = families;
  if (family === undefined || families.size > 1 || family === routingOf(spec).podIpFamily) {
    return spec.routing;
  }
  return { ...spec.routing, podIPFamily: family };
}

/** What the wish leads to when it is taken back, whether the pods are gone or only some of them. */
export function wakingEvents({ cluster }: Snapshot): PlanEvent[] {
  const { spec, status } = cluster;
  if (spec.hibernate === true || status?.hibernation === undefined) return [];
  const known = conditionIn(status, "Hibernated");
  if (known === undefined || known.reason === "Waking") return [];
  return [event("Waking", `The database wakes; it was stopped at ${status.hibernation.since}`)];
}

function event(reason: string, message: string): PlanEvent {
  return { type: "Normal", reason, message };
}

function keepStopped(snapshot: Snapshot, draft: Draft): StepResult {
  const services = sleepingServices(snapshot, draft);
  const left = [...snapshot.pods.values()].map(({ metadata }) => metadata.name ?? "").sort();
  if (left.length === 0) return services;
  const wait: NewWait = {
    step,
    reason: "HibernationStopping",
    message: `The database has been stopped; these pods are still there: ${nameList(left)}`,
    retryAfterMs: 15_000,
  };
  return {
    actions: [...services.actions, ...stopOf(snapshot, draft)],
    waits: [...services.waits, wait],
  };
}

/** One stop for all: whoever is there goes in one act. */
function stopOf(snapshot: Snapshot, draft: Draft): Action[] {
  const pods = draft.groups.flatMap((group): PodOrder[] => {
    const { pod } = viewOf(snapshot).of(group);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
    return [{ basis: { name, uid, resourceVersion }, processGroupId: group.processGroupID }];
  });
  if (pods.length === 0) return [];
  // A database that is gone already, as far as its other resources stopped it, gives no lock.
  const isServing = isAvailable(databaseStatus(snapshot));
  const isLocked = isServing && !hasStopBegun(snapshot) && needsLock(snapshot);
  return [
    {
      ...{ type: "deletePods", step, because: "hibernate", pods },
      evidenceMs: evidenceMsOf(snapshot),
      needsLock: isLocked,
    },
  ];
}

function waitOf({ reason, message, remedy }: Obstacle): NewWait {
  const isForDatabase = reason !== "HibernationRefused";
  return { step, reason, message, remedy, retryAfterMs: 15_000, isForDatabase };
}
