// Parts of the status of the database that have a shape nobody here knows. What is left of it still tells how the database
// does, but nothing disruptive rests on it, and it is said as long as it is so. Rules: spec/safety.md [S141], [S142],
// spec/explain.md [E60].
import { unreadableText } from "../../model/status-shape.ts";
import type { PlanWarning } from "../step.ts";
import { sentence } from "../hold.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import type { NewWait } from "../wait.ts";

const reason = "StatusUnreadable";

/** What could not be read, as a sentence; undefined when all of it was. */
export function unreadableOf(snapshot: Snapshot): string | undefined {
  const found = unreadableText(databaseStatus(snapshot) ?? {});
  return found === undefined ? undefined : sentence(found);
}

export function unreadableWaits(snapshot: Snapshot): NewWait[] {
  const message = unreadableOf(snapshot);
  if (message === undefined) return [];
  const step = "updateStatus";
  return [{ step, reason, message, retryAfterMs: 10_000, isForDatabase: true }];
}

export function unreadableWarnings(snapshot: Snapshot): PlanWarning[] {
  const message = unreadableOf(snapshot);
  if (message === undefined) return [];
  return [{ reason, message: `${message}. Nothing disruptive is done meanwhile.` }];
}
