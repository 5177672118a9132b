// Reasons around nodes that are drained, and pods that others evict.
import type { Reason } from "./reason.ts";

export const drainReasons = {
  DisruptionBudgetForbidden: {
    concern: "person",
    meaning:
      "`automationOptions.drains.enabled` asks for a PodDisruptionBudget, and the role of the operator " +
      "does not allow it to look at them: it is older than this. Everything else goes on, and drains are " +
      "not held back.",
    remedy:
      "Give the operator the role of its chart: list, watch, create, patch and delete poddisruptionbudgets.",
    page: "drains",
  },
  DisruptionBudgetForeign: {
    concern: "person",
    meaning:
      "Somebody else has a PodDisruptionBudget over pods of this cluster. With two of them over one pod " +
      "the API server refuses every eviction with an error, so the operator keeps none. Yours does not " +
      "know whether the database can bear an eviction.",
    remedy:
      "Delete your own budget, and the operator makes one. Or set automationOptions.drains.enabled to false.",
    page: "drains",
  },
  DisruptionBudgetStuck: {
    concern: "person",
    meaning:
      "Somebody deleted the PodDisruptionBudget of the operator, and a finalizer of somebody keeps it. It counts until it " +
      "is gone, and the operator goes on setting its number, so updates and drains go on as the API server lets " +
      "them. A new one is made when it is gone.",
    remedy:
      "Find out whose finalizer the message names and why it is not taken off: " +
      "`kubectl get poddisruptionbudget NAME -o yaml`.",
    page: "drains",
  },
  EvictionsHeld: {
    concern: "passing",
    meaning:
      "Pods run on a cordoned node, and the budget of the operator lets none be evicted now: the " +
      "database is not as redundant as its mode promises, or the operator moves the pods itself. A drain " +
      "waits for that and ends by itself.",
    remedy: "Nothing: a drain that waits goes on by itself. The message says what it waits for.",
    page: "drains",
  },
  NodeNotCordoned: {
    concern: "person",
    meaning:
      "A node has the annotation `foundationdb.org/drain`, and would take the pods back that leave it. " +
      "Nothing moves before it is cordoned.",
    remedy: "Cordon the node with `kubectl cordon NODE`, or remove the annotation.",
    page: "drains",
  },
} as const satisfies Readonly<Record<string, Reason>>;
