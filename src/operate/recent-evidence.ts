// Acts that cannot be taken back rest on a status that has just come: one that is older is asked for again first. Statuses
// are rare while something lasts, and people change things as well. Rule: spec/operate.md [OP67].
import type { Action } from "../plan/action.ts";
import { isDisruptive } from "../plan/action.ts";
import type { ClusterState } from "./cluster-state.ts";

const recentMs = 2_000;

/** What may be done now; the rest is decided on again when the answer is here. */
export function onRecentEvidence(
  state: Pick<ClusterState, "poller" | "postponedMs">,
  actions: readonly Action[],
  nowMs: number,
): readonly Action[] {
  const { latest } = state.poller;
  if (latest.kind === "missing" || !actions.some(isDisruptive)) return actions;
  const isRecent = nowMs - (latest.answeredMs ?? latest.observedMs) <= recentMs;
  // Where passes are slow, the status that was asked for is recent enough however old it is by now.
  const isAsked = state.postponedMs !== undefined && latest.observedMs >= state.postponedMs;
  if (isRecent || isAsked) {
    state.postponedMs = undefined;
    return actions;
  }
  state.postponedMs ??= nowMs;
  state.poller.askNow();
  return actions.filter((action) => !isDisruptive(action));
}
