// What the operator waits for, and why. A wait is a state of the world, not an error: it reaches
// status.blockedBy, the conditions, logs and the terminal in the same words.
// Rules: spec/plan.md [P5], [P6].
import { remedyOf } from "./reasons/registry.ts";
import type { RemediedReason, WaitReason } from "./reasons/registry.ts";
import type { PlanEvent } from "./step.ts";

export interface Wait {
  /** The step of the chain that cannot go on. */
  step: string;
  reason: WaitReason;
  message: string;
  /** The object waited for, as kind/name; several of one kind are one wait that names them in its message. */
  object?: string;
  sinceMs: number;
  /** When it is looked at again at the latest; events look earlier. */
  retryAtMs: number;
  /** What a person can do. */
  remedy: string;
  /** Whether the answer will come from the database, so that its status is polled more often meanwhile. */
  isForDatabase?: boolean;
  /** Told once, when the wait begins. */
  event?: PlanEvent;
}

/** A wait before its history is known. It says nothing of a remedy when its reason has the only one. */
export type NewWait = Omit<Wait, "reason" | "remedy" | "sinceMs" | "retryAtMs"> & {
  retryAfterMs: number;
} & ({ reason: WaitReason; remedy: string } | { reason: RemediedReason; remedy?: undefined });

/** What tells a wait from others, and its beginning. */
export interface KnownWait {
  readonly step: string;
  readonly reason: string;
  readonly object?: string;
  readonly sinceMs: number;
}

/** Two waits are the same wait when step, reason and object agree: its age goes on. */
export function waitKey(wait: Omit<KnownWait, "sinceMs">): string {
  return `${wait.step}/${wait.reason}/${wait.object ?? ""}`;
}

function anyKey({ step, reason }: Omit<KnownWait, "sinceMs">): string {
  return waitKey({ step, reason });
}

export function datedWaits(
  waits: readonly NewWait[],
  previous: readonly KnownWait[],
  nowMs: number,
): Wait[] {
  const since = new Map<string, number>();
  for (const wait of previous) {
    // A wait for several objects and a wait for one of them are the same wait in another moment.
    for (const key of [waitKey(wait), anyKey(wait)]) {
      since.set(key, Math.min(since.get(key) ?? Infinity, wait.sinceMs));
    }
  }
  return waits.map(({ retryAfterMs, ...wait }) => {
    const known = since.get(waitKey(wait)) ?? since.get(anyKey(wait));
    const remedy = wait.remedy ?? remedyOf(wait.reason);
    const sinceMs = Math.min(known ?? nowMs, nowMs);
    return { ...wait, remedy, sinceMs, retryAtMs: nowMs + retryAfterMs };
  });
}

/** "a, b and c", with at most three names: a status must not grow with the size of the cluster. */
export function nameList(names: readonly string[]): string {
  const shown = names.slice(0, 3);
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}
