// Step updateDisruptionBudget: one PodDisruptionBudget over all pods of a cluster. It lets one pod be evicted at a time, and only
// while the database can bear it; what others do is up to the API server then. It comes before pods are created, so that the number
// is never too low for them, and counts pods until they are gone. Rules: spec/drains.md [DRAIN1]-[DRAIN8], [DRAIN23].
import { automationOf } from "../../api/effective.ts";
import { budgetSpec, disruptionBudget } from "../../build/disruption-budget.ts";
import type { PodDisruptionBudget } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { matchesLabelSelector } from "../../kube/selector.ts";
import { isReadyForRemoval } from "../../model/process-group.ts";
import type { Action } from "../action.ts";
import { isCordoned, nodeWishes } from "../drains/drained-nodes.ts";
import { sentence } from "../hold.ts";
import { isWithoutPod } from "../pods/early-pods.ts";
import { coveredPods, ownBudget } from "../safety/evictions.ts";
import { personsMaintenance } from "../safety/persons-maintenance.ts";
import { unnoticedLossProblem } from "../safety/unnoticed-loss.ts";
import { isStatusPending } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";
import { ownersFor } from "../view/left-behind.ts";
import { isSameJson } from "../view/same-json.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";
import { evictionProblem } from "./eviction-problem.ts";
import { keptText } from "./kept-pods.ts";

const step = "updateDisruptionBudget";

export function updateDisruptionBudget(snapshot: Snapshot, draft: Draft): StepResult {
  const own = ownBudget(snapshot);
  if (!automationOf(snapshot.cluster.spec).managesDrains) {
    return own === undefined ? nothing : { actions: removalOf(own), waits: stuckBudget(own) };
  }
  const waits = openNodes(snapshot);
  if (snapshot.disruptionBudgets === undefined) return { waits: [...waits, withoutRights()] };
  const foreign = foreignBudgets(snapshot, own);
  if (foreign.length > 0) {
    const told = [...stuckBudget(own), foreignBudget(foreign)];
    return { actions: removalOf(own), waits: [...waits, ...told] };
  }
  // Until the first answer of the database has come, what the operator before this one found stands.
  if (own !== undefined && isStatusPending(snapshot)) return { waits };
  const pods = podCount(snapshot, draft);
  // What the operator before this one has opened stands: nothing is written for the sake of a start.
  const unnoticed = isOpenFor(own, pods) ? undefined : unnoticedLossProblem(snapshot);
  const problem = evictionProblem(snapshot, draft) ?? unnoticed;
  const minAvailable = problem === undefined ? Math.max(0, pods - 1) : pods;
  const refused = problem === undefined ? [] : refusedEvictions(snapshot, draft, problem);
  return {
    actions: actionsFor(draft, own, minAvailable),
    waits: [...waits, ...stuckBudget(own, "; then there is a new one"), ...refused],
  };
}

/** Pods that are, or are about to be, and those of others with the same labels. One that is being deleted counts until it is gone. */
function podCount(snapshot: Snapshot, draft: Draft): number {
  const names = new Set(coveredPods(snapshot).map(({ metadata }) => metadata.name ?? ""));
  const view = viewOf(snapshot);
  for (const group of draft.groups) {
    if (isReadyForRemoval(group) || isWithoutPod(snapshot, group)) continue;
    names.add(view.of(group).podName);
  }
  return names.size + (snapshot.likePods ?? 0);
}

/** One that was closed for fewer pods, some of them gone by then, would open as soon as there are more. */
function isOpenFor(own: Stored<PodDisruptionBudget> | undefined, pods: number): boolean {
  const { spec: { minAvailable } = {}, status } = own ?? {};
  if (minAvailable !== pods - 1) return false;
  return status?.expectedPods === undefined || status.expectedPods > minAvailable;
}

function actionsFor(
  { desired }: Draft,
  own: Stored<PodDisruptionBudget> | undefined,
  minAvailable: number,
): Action[] {
  const { cluster } = desired;
  if (own === undefined) {
    const object = disruptionBudget(cluster, minAvailable);
    return [{ type: "createDisruptionBudget", step, object }];
  }
  // Also one that somebody's finalizer keeps is over the pods, and must not let others evict them beside us.
  const wanted = budgetSpec(cluster, minAvailable);
  const owners = ownersFor(cluster, own);
  if (isSameJson(own.spec, wanted) && owners.owners === undefined) return [];
  return [{ type: "updateDisruptionBudget", step, basis: basisOf(own), spec: wanted, ...owners }];
}

function basisOf({ metadata }: Stored<PodDisruptionBudget>) {
  const { name = "", uid = "", resourceVersion = "" } = metadata;
  return { name, uid, resourceVersion };
}

function removalOf(own: Stored<PodDisruptionBudget> | undefined): Action[] {
  if (own === undefined || own.metadata.deletionTimestamp !== undefined) return [];
  return [{ type: "deleteDisruptionBudget", step, basis: basisOf(own) }];
}

/** Budgets of others over our pods: with two over one pod the API server refuses every eviction of it. */
function foreignBudgets(
  snapshot: Snapshot,
  own: Stored<PodDisruptionBudget> | undefined,
): Stored<PodDisruptionBudget>[] {
  const pods = coveredPods(snapshot);
  return (snapshot.disruptionBudgets ?? []).filter(
    (budget) =>
      budget !== own &&
      pods.some(({ metadata }) =>
        matchesLabelSelector(budget.spec?.selector, metadata.labels ?? {}),
      ),
  );
}

function foreignBudget(budgets: readonly Stored<PodDisruptionBudget>[]): NewWait {
  const names = nameList(budgets.map(({ metadata }) => metadata.name ?? ""));
  return {
    step,
    reason: "DisruptionBudgetForeign",
    message: `PodDisruptionBudget ${names} is over the pods of this cluster, so the operator keeps none of its own`,
    retryAfterMs: 600_000,
  };
}

function withoutRights(): NewWait {
  return {
    step,
    reason: "DisruptionBudgetForbidden",
    message: "The operator may not look at PodDisruptionBudgets, so it keeps none",
    retryAfterMs: 600_000,
  };
}

const keptRemedy =
  "Take away what keeps the named pods, or delete them when you have seen enough: until then the drain does not end by itself.";

/** People announce one in order to drain the node, and nothing else would end it before its time. */
function maintenanceText(snapshot: Snapshot): string | undefined {
  if (personsMaintenance(snapshot)?.isKnown !== true) return undefined;
  const { name = "" } = snapshot.cluster.metadata;
  return `A drain needs no maintenance, and goes on when a person ends it: kubectl fdb maintenance end -c ${name}`;
}

/** Without finalizers it would be gone at once. */
function stuckBudget(own: Stored<PodDisruptionBudget> | undefined, then = ""): NewWait[] {
  const { deletionTimestamp, finalizers = [], name = "" } = own?.metadata ?? {};
  if (deletionTimestamp === undefined) return [];
  return [
    {
      step,
      reason: "DisruptionBudgetStuck",
      message: `PodDisruptionBudget ${name} is being deleted, and finalizers keep it: ${nameList(finalizers)}. It counts until it is gone${then}`,
      retryAfterMs: 60_000,
    },
  ];
}

/** Told only where somebody may be waiting for an eviction. */
function refusedEvictions(snapshot: Snapshot, draft: Draft, problem: string): NewWait[] {
  const names: string[] = [];
  const used = new Set(coveredPods(snapshot).map(({ spec }) => spec?.nodeName ?? ""));
  for (const [name, node] of snapshot.nodes ?? []) {
    if (used.has(name) && isCordoned(node)) names.push(name);
  }
  if (names.length === 0) return [];
  const kept = keptText(snapshot, draft, names);
  const more = [kept, maintenanceText(snapshot)].filter((text) => text !== undefined);
  const held = `No pod may be evicted now, from ${nameList(names)} or elsewhere. ${sentence(problem)}`;
  return [
    {
      step,
      reason: "EvictionsHeld",
      message: [held, ...more].join(". "),
      ...(kept === undefined ? {} : { remedy: keptRemedy }),
      retryAfterMs: 15_000,
      isForDatabase: true,
    },
  ];
}

/** Pods that leave such a node would be put on it again. */
function openNodes(snapshot: Snapshot): NewWait[] {
  const { open } = snapshot.memory.once(nodeWishes, snapshot);
  if (open.length === 0) return [];
  const names = nameList(open);
  const message = `${names} shall be left, and new pods may still be put there: nothing moves before it is cordoned`;
  return [{ step, reason: "NodeNotCordoned", message, retryAfterMs: 60_000 }];
}
