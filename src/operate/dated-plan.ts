// Since when a resource waits for what it waits for. A plan knows nothing of the one before it: what its waits have in common
// with earlier ones is found here, for people, and decides nothing. Rules: spec/plan.md [P5], [P6], [P84].
import type { BlockedBy } from "../api/blocked-by.ts";
import { formatTime, parseTime } from "../kube/time.ts";
import type { Plan } from "../plan/chain.ts";
import { remedyOf } from "../plan/reasons/registry.ts";
import type { WaitReason } from "../plan/reasons/registry.ts";
import type { NewWait, WaitFields } from "../plan/wait.ts";

export interface Wait extends Omit<WaitFields, "retryAfterMs"> {
  reason: WaitReason;
  /** What a person can do. */
  remedy: string;
  sinceMs: number;
  retryAtMs: number;
}

/** What tells a wait from others, and its beginning. */
export interface KnownWait {
  readonly step: string;
  readonly reason: string;
  readonly object?: string;
  readonly sinceMs: number;
}

interface Waiting {
  readonly waits: readonly NewWait[];
  readonly status: object;
}

/** A plan with its waits as people see them. */
export type Dated<P extends Waiting> = Omit<P, "waits" | "status"> & {
  readonly waits: readonly Wait[];
  readonly status: P["status"] & { blockedBy?: BlockedBy[] };
};

export type DatedClusterPlan = Dated<Plan>;

/** As many as a status holds. */
const shownMax = 100;

export function datedPlan<P extends Waiting>(
  plan: P,
  before: readonly KnownWait[],
  nowMs: number,
): Dated<P> {
  const waits = datedWaits(plan.waits, before, nowMs);
  const timeText = timeTexts();
  const shown = waits.slice(0, shownMax).map((wait) => toBlockedBy(wait, timeText));
  const blocked = shown.length === 0 ? {} : { blockedBy: shown };
  return { ...plan, waits, status: { ...plan.status, ...blocked } };
}

/** After a restart the stored status remembers since when the resource waits. */
export function storedWaits(
  status: { readonly blockedBy?: readonly BlockedBy[] } | undefined,
): KnownWait[] {
  return (status?.blockedBy ?? []).map(({ step, reason, object, since }) => ({
    step,
    reason,
    sinceMs: parseTime(since) ?? Infinity,
    ...(object === undefined ? {} : { object }),
  }));
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
  before: readonly KnownWait[],
  nowMs: number,
): Wait[] {
  const since = new Map<string, number>();
  for (const wait of before) {
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

/** Most waits of a pass share their times. */
function timeTexts(): (atMs: number) => string {
  const known = new Map<number, string>();
  return (atMs) => {
    let text = known.get(atMs);
    if (text === undefined) known.set(atMs, (text = formatTime(atMs)));
    return text;
  };
}

function toBlockedBy(wait: Wait, timeText: (atMs: number) => string): BlockedBy {
  return {
    step: wait.step,
    reason: wait.reason,
    message: wait.message.slice(0, 4096),
    ...(wait.object === undefined ? {} : { object: wait.object }),
    since: timeText(wait.sinceMs),
    retryAt: timeText(wait.retryAtMs),
    remedy: wait.remedy,
  };
}
