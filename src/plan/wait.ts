// What the operator waits for, and why. A wait is a state of the world, not an error: it reaches status.blockedBy, the
// conditions, logs and the terminal in the same words. It is for people, and decides nothing. Rules: spec/plan.md [P5], [P108].
import type { RemediedReason, WaitReason } from "./reasons/registry.ts";
import type { PlanEvent } from "./step.ts";

/** As a plan finds it: since when it lasts is found out afterwards. It names no remedy when its reason has the only one. */
export type NewWait = WaitFields &
  ({ reason: WaitReason; remedy: string } | { reason: RemediedReason; remedy?: undefined });

export interface WaitFields {
  /** The step of the chain that cannot go on. */
  step: string;
  message: string;
  /** The object waited for, as kind/name; several of one kind are one wait that names them in its message. */
  object?: string;
  /** When it is looked at again at the latest; events look earlier. */
  retryAfterMs: number;
  /** Whether the answer will come from the database, so that its status is polled more often meanwhile. */
  isForDatabase?: boolean;
  /** Told once, when the wait begins. */
  event?: PlanEvent;
}

/** "a, b and c", with at most three names: a status must not grow with the size of the cluster. */
export function nameList(names: readonly string[]): string {
  const shown = names.slice(0, 3);
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}
