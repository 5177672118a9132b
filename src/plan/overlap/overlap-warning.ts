// People are told that another operator looks after the same cluster. Rules: spec/overlap.md [OVER5].
import type { Snapshot } from "../snapshot.ts";
import type { PlanWarning } from "../step.ts";

export function overlapWarnings({ overlappingOperator: other }: Snapshot): PlanWarning[] {
  if (other === undefined) return [];
  const message =
    `The operator ${other} looks after this cluster, too, and stands back. ` +
    "Give the two operators disjoint namespaces or selectors, or remove one of them.";
  return [{ reason: "OperatorOverlap", message }];
}
