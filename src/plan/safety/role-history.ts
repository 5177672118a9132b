// What a process group may hold: nothing, transaction logs, or data. It is judged by the roles that statuses have shown
// of it since its pod is watched, not by its class alone; what is not known counts as data. An operator that has just
// started knows nothing. Rules: spec/safety.md [S68], [S69].
import type { Remembering } from "../../env/memory.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { processesOfInstance } from "../../model/locality.ts";
import { isLogProcess, neverKeepsData } from "../../model/process-class.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import type { SeenStatus } from "../snapshot.ts";
import { groupsOf } from "./view.ts";
import { hostOf } from "../../model/address.ts";
import type { SafetyView } from "./view.ts";
import { viewOf } from "../view/cluster-view.ts";

/** From the least to the most. */
export type Holding = "nothing" | "logs" | "data";

export interface RoleHistory {
  readonly podUid: string;
  /** The first status of an unbroken watch over this pod. */
  readonly firstSeenMs: number;
  /** The last status in which all processes of the pod reported. */
  readonly lastSeenMs: number;
  /** The first complete status after that one, in which they did not. */
  readonly missedMs?: number;
  /** Whatever lies on its disk had the time to show as a role. */
  readonly isSettled: boolean;
  /** The most that any status showed. */
  readonly shown: Holding;
}

export type RoleHistories = ReadonlyMap<string, RoleHistory>;

/** A process brings back what lies on its disk within this time, or the database gives it up. */
const settlingSeconds = 600;
/** What happened between two statuses that are further apart is not known. */
const watchGapMs = 120_000;

/**
 * Takes in a status; of process groups that are gone nothing is kept. One that does not tell everything can show that
 * something is held, never that nothing is.
 */
export function noteRoles(
  before: RoleHistories,
  seen: SeenStatus & { isComplete: boolean },
  view: Pick<SafetyView, "cluster" | "pods" | "memory">,
): RoleHistories {
  const after = new Map<string, RoleHistory>();
  for (const group of groupsOf(view)) {
    const id = group.processGroupID;
    const known = before.get(id);
    const history = seen.isComplete
      ? historyAfter(view, known, group, seen)
      : known && { ...known, shown: shownBy(view, seen, group, known) };
    if (history !== undefined) after.set(id, history);
  }
  return after;
}

function shownBy(
  view: Remembering,
  seen: SeenStatus,
  group: ProcessGroup,
  known: RoleHistory | undefined,
): Holding {
  const processes = processesOfInstance(view, seen.status, group.processGroupID);
  return most([known?.shown ?? "nothing", ...processes.map(holdingShown)]);
}

/** Clocks can be set back, so what seems to lie in the future is no unbroken watch either. */
function isUnbroken(fromMs: number, toMs: number): boolean {
  return toMs >= fromMs && toMs - fromMs <= watchGapMs;
}

function historyAfter(
  view: Pick<SafetyView, "cluster" | "pods" | "memory">,
  known: RoleHistory | undefined,
  group: ProcessGroup,
  seen: SeenStatus,
): RoleHistory | undefined {
  const pod = viewOf(view).of(group).pod;
  const processes = processesOfInstance(view, seen.status, group.processGroupID);
  const shown = shownBy(view, seen, group, known);
  const { observedMs } = seen;
  if (pod === undefined || !doAllReport(view, pod, processes)) {
    if (known === undefined || hasOtherStarted(pod, known)) return undefined;
    const { missedMs = observedMs } = known;
    if (!isUnbroken(known.lastSeenMs, missedMs)) return undefined;
    return { ...known, shown, missedMs };
  }
  const podUid = pod.metadata.uid ?? "";
  const isSame = known?.podUid === podUid && isUnbroken(known.lastSeenMs, observedMs);
  const firstSeenMs = isSame ? known.firstSeenMs : observedMs;
  const isLong = observedMs - firstSeenMs >= settlingSeconds * 1000;
  const isOld = processes.every(({ uptime_seconds: age = 0 }) => age >= settlingSeconds);
  const isSettled = (isSame && known.isSettled) || (isLong && isOld);
  return { podUid, firstSeenMs, lastSeenMs: observedMs, isSettled, shown };
}

/** Every server of the pod, and not only processes of an earlier pod that linger in the status. */
function doAllReport(
  view: Remembering,
  pod: Stored<Pod>,
  processes: readonly StatusProcess[],
): boolean {
  const { servers, publicIps } = shapeOfPod(view, pod);
  const hosts = new Set(publicIps.map(hostOf));
  const own = processes.filter(({ address = "" }) => hosts.has(hostOf(address)));
  return own.length >= servers;
}

/** A pod that nobody has seen in the database may have run there. */
function hasOtherStarted(pod: Stored<Pod> | undefined, known: RoleHistory): boolean {
  if (pod === undefined || pod.metadata.uid === known.podUid) return false;
  return (pod.status?.phase ?? "Pending") !== "Pending";
}

const statelessRoles: ReadonlySet<string> = new Set([
  "master",
  "cluster_controller",
  "proxy",
  "commit_proxy",
  "grv_proxy",
  "resolver",
  "router",
  "data_distributor",
  "ratekeeper",
  "consistency_scan",
]);

/** Its class may be another one than that of the process group: people can set it in the database. */
function holdingShown({ class_type = "", roles }: StatusProcess): Holding {
  if (roles === undefined) return "data";
  return most([holdingOfClass(class_type), ...roles.map(({ role }) => holdingOfRole(role))]);
}

function holdingOfRole(role: string): Holding {
  if (role === "log") return "logs";
  return statelessRoles.has(role) ? "nothing" : "data";
}

function holdingOfClass(processClass: string): Holding {
  if (neverKeepsData(processClass)) return "nothing";
  return isLogProcess(processClass) ? "logs" : "data";
}

function most(holdings: readonly Holding[]): Holding {
  if (holdings.includes("data")) return "data";
  return holdings.includes("logs") ? "logs" : "nothing";
}

/** The most that the process group may hold. */
export function holdingOf(
  view: Pick<SafetyView, "cluster" | "pods" | "histories" | "memory">,
  group: ProcessGroup,
): Holding {
  const history = view.histories?.get(group.processGroupID);
  if (history?.isSettled !== true || hasOtherStarted(viewOf(view).of(group).pod, history))
    return "data";
  return most([holdingOfClass(group.processClass), history.shown]);
}
