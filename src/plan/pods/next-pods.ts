// Which of the outdated pods go next: all, those of one fault domain, or a single one. Rules: spec/restart.md [T47]-[T49].
import type { PodDeletionMode } from "../../api/automation-options.ts";
import type { PodUpdate } from "./outdated-pods.ts";
import type { DisruptiveAction } from "../action.ts";
import { sentence } from "../hold.ts";
import type { PlanEvent, StepResult } from "../step.ts";
import { nameList } from "../wait.ts";

export interface PodChoice {
  zone: string;
  updates: readonly PodUpdate[];
  /** The database is away meanwhile, as its owner accepts. */
  isLoss?: true;
}

export interface ChoiceContext {
  mode: PodDeletionMode;
  /** The fault domain that the database treats as under maintenance, or "". */
  maintenanceZone: string;
  /** Fault domains in which something is down already: taking the rest of them costs nothing more. */
  downZones: ReadonlySet<string>;
}

/** Undefined when nothing may go: the mode forbids it, or a foreign maintenance leaves no fault domain. */
export function choosePods(
  updates: readonly PodUpdate[],
  context: ChoiceContext,
): PodChoice | undefined {
  if (updates.length === 0 || context.mode === "None") return undefined;
  if (context.mode === "All") return { zone: "", updates };
  const zones = zonesOf(updates).filter((choice) => isOpen(choice, context));
  const [first] = zones.toSorted((left, right) => compareZones(left, right, context));
  if (first === undefined || context.mode === "Zone") return first;
  return { zone: first.zone, updates: first.updates.slice(0, 1) };
}

function zonesOf(updates: readonly PodUpdate[]): PodChoice[] {
  const byZone = new Map<string, PodUpdate[]>();
  for (const update of updates) {
    const sharing = byZone.get(update.zone);
    if (sharing) sharing.push(update);
    else byZone.set(update.zone, [update]);
  }
  return [...byZone].map(([zone, found]) => ({ zone, updates: found }));
}

/** While another fault domain is under maintenance, the database counts on the storage servers everywhere else. */
function isOpen(choice: PodChoice, { maintenanceZone }: ChoiceContext): boolean {
  if (maintenanceZone === "" || maintenanceZone === choice.zone) return true;
  return choice.updates.every((update) => update.group.processClass !== "storage");
}

function compareZones(left: PodChoice, right: PodChoice, context: ChoiceContext): number {
  const rank = ({ zone }: PodChoice): number =>
    zone === context.maintenanceZone ? 0 : context.downZones.has(zone) ? 1 : 2;
  return rank(left) - rank(right) || (left.zone < right.zone ? -1 : 1);
}

// How a deletion of outdated pods is ordered and told. Rules: spec/restart.md [T53], [T55].
const step = "updatePods";

type PodDeletion = DisruptiveAction & { type: "deletePods" };

export function deletionOf(
  because: "unstarted" | "early" | "update",
  updates: readonly PodUpdate[],
): Pick<PodDeletion, "because" | "pods" | "step" | "type"> {
  const pods = updates.map(({ group, pod }) => {
    const { name = "", uid = "", resourceVersion = "" } = pod.metadata;
    return { basis: { name, uid, resourceVersion }, processGroupId: group.processGroupID };
  });
  return { type: "deletePods", step, because, pods };
}

export function updatingEvent(
  { updates, isLoss }: Pick<PodChoice, "isLoss" | "updates">,
  where: string,
): PlanEvent {
  const message = `Recreating pods ${where}: ${podNames(updates)}`;
  if (isLoss !== true) return { type: "Normal", reason: "UpdatingPods", message };
  const why = "the database has one copy of its data and podUpdateStrategy is Delete";
  return {
    type: "Warning",
    reason: "UpdatingPods",
    message: `${message}; ${why}: it is away meanwhile`,
  };
}

/** Deletion mode None: people delete pods themselves, and are told which. */
export function leftAlone(updates: readonly PodUpdate[]): StepResult {
  const message = `${purposeOf(updates)}, but automationOptions.deletionMode is None`;
  const event = { type: "Normal", reason: "NeedsPodsDeletion", message } as const;
  return {
    waits: [{ step, reason: "PodChangePending", message, event, retryAfterMs: 60_000 }],
  };
}

const purposes = [
  ["drain", "have to leave nodes"],
  ["volume", "have to start again, since their file systems grow only then"],
  [undefined, "were made from an older specification"],
] as const;

/** As a sentence. */
export function purposeOf(updates: readonly PodUpdate[]): string {
  const clauses = purposes.flatMap(([why, text]) => {
    const some = updates.filter((update) => update.why === why);
    return some.length === 0 ? [] : [`pods ${text}: ${podNames(some)}`];
  });
  return sentence(clauses.join("; "));
}

export function podNames(updates: readonly PodUpdate[]): string {
  return nameList(updates.map(({ pod }) => pod.metadata.name ?? ""));
}
