// Carries out the actions of a plan that are due, and remembers what failed or was refused until it works or nobody wants
// it any more. Rules: spec/operate.md [OP35]-[OP42].
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { Stored } from "../kube/resource.ts";
import { actionKey } from "../plan/action-key.ts";
import { isDatabaseCommand, isResize } from "../plan/action.ts";
import type { Action } from "../plan/action.ts";
import { describeAction } from "../plan/describe-action.ts";
import { noteBypass } from "./bypass-event.ts";
import type { ClusterState } from "./cluster-state.ts";
import { carryOutFirst, performActions } from "./perform.ts";
import type { ActionOutcome, PerformTarget } from "./perform.ts";
import { onRecentEvidence } from "./recent-evidence.ts";
import type { ReconcileOptions } from "./reconcile-options.ts";

/** A status that was asked for a little later was certainly asked for after the command ended. */
const soonMs = 50;
/** A lock that is held elsewhere is asked for at least so often. */
const lockMaximumMs = 15_000;
/** So long a failed command is remembered when it is not tried again and no status shows what became of it. */
const commandMemoryMs = 30_000;

export async function carryOut(
  options: ReconcileOptions,
  key: string,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
  actions: readonly Action[],
  seenMs = 0,
): Promise<ActionOutcome[]> {
  const nowMs = options.clock.nowMs();
  const planned = new Set(actions.map(actionKey));
  for (const known of [...state.refusals.keys()]) {
    if (!planned.has(known)) state.refusals.delete(known);
  }
  for (const [known, failure] of [...state.failures]) {
    // After a failed command a pass first waits for news of the database: the failure must outlive such a pass.
    const isUnseen = failure.isCommand && seenMs <= failure.atMs;
    const forgetMs = isUnseen ? failure.retryAtMs + commandMemoryMs : 0;
    if (!planned.has(known) && nowMs >= forgetMs) state.failures.delete(known);
  }
  const isDue = (action: Action): boolean => {
    const known = actionKey(action);
    return [state.failures.get(known), state.refusals.get(known)].every(
      (found) => found === undefined || found.retryAtMs <= nowMs,
    );
  };
  const due = onRecentEvidence(state, actions.filter(isDue), nowMs);
  if (due.length === 0) return [];
  const { uid: ownerUid = "", name: clusterName = "" } = cluster.metadata;
  const target = { ownerUid, clusterName, database: state.database };
  const commands = due.filter(isDatabaseCommand);
  if (commands.length > 0 && state.runningCommand === undefined) {
    void runCommands(options, key, state, target, commands);
  }
  const others = due.filter((action) => !isDatabaseCommand(action));
  const outcomes = await performActions(options.perform, target, others);
  for (const outcome of outcomes) note(options, key, state, outcome);
  return outcomes;
}

/**
 * The database may take its time; pods and volumes are looked after meanwhile. Only one command is carried out for each
 * decision, since it changes what the others were decided on; one that is refused changes nothing.
 */
async function runCommands(
  options: ReconcileOptions,
  key: string,
  state: ClusterState,
  target: PerformTarget,
  commands: readonly Action[],
): Promise<void> {
  const isCarriedOut = await carryOutFirst(commands, async (command) => {
    state.runningCommand = describeAction(command);
    const [outcome] = await performActions(options.perform, target, [command]);
    state.runningCommand = undefined;
    if (outcome !== undefined && !state.isClosed) note(options, key, state, outcome);
    return state.isClosed ? undefined : outcome;
  });
  // What was refused is looked at again when something has changed, and after a while.
  if (!isCarriedOut) return;
  // A little later, so that the question is certainly asked after the command ended.
  options.clock.setTimer(soonMs, () => state.poller.askNow());
  options.wake(key);
}

function note(
  options: ReconcileOptions,
  cluster: string,
  state: ClusterState,
  outcome: ActionOutcome,
): void {
  const { action } = outcome;
  const [key, text] = [actionKey(action), describeAction(action)];
  const atMs = options.clock.nowMs();
  const fields = { cluster, step: action.step, action: text };
  if (outcome.kind === "done") {
    state.failures.delete(key);
    state.refusals.delete(key);
    state.awaited = { ...state.awaited, sinceMs: atMs };
    noteBypass(options, cluster, action);
    options.metrics.actionEnded(cluster, action, "done");
    options.log.info("action performed", fields);
    options.onActivity({ type: "action", cluster, atMs, action, text });
    if (action.type === "copyToPod") state.sidecars.noteCopied(action.podName);
    state.reader.noteWrite(action);
    return;
  }
  if (outcome.kind === "stale") {
    options.metrics.actionEnded(cluster, action, "outdated");
    return options.log.debug("the object had changed", fields);
  }
  if (outcome.kind === "refused") {
    options.metrics.actionEnded(cluster, action, "refused");
    const { reason, message } = outcome.refusal;
    const before = state.refusals.get(key);
    if (before?.reason !== reason) {
      options.log.info("the guard refused", { ...fields, reason, message });
    }
    const count = (before?.reason === reason ? before.count : 0) + 1;
    // Who holds the lock keeps it for a while: asking for it costs the database a transaction each time.
    const retryAtMs = reason === "LockHeld" ? atMs + backOffMs(count, lockMaximumMs) : atMs;
    const { step } = action;
    state.refusals.set(key, { key, step, what: text, reason, message, count, retryAtMs });
    return;
  }
  // A write whose answer was lost may have happened.
  state.reader.noteWrite(action);
  const count = (state.failures.get(key)?.count ?? 0) + 1;
  const retryAtMs = atMs + backOffMs(count, 60_000);
  const { message } = outcome;
  const { step } = action;
  const failure = { key, step, what: text, message, atMs, retryAtMs, count };
  const sinceMs = state.failures.get(key)?.sinceMs ?? atMs;
  const claim = action.type === "growPvc" ? { claimName: action.basis.name } : {};
  const pod = isResize(action) ? { podName: action.basis.name, specHash: action.specHash } : {};
  const isCommand = isDatabaseCommand(action);
  state.failures.set(key, { ...failure, ...claim, ...pod, sinceMs, isCommand });
  options.metrics.actionEnded(cluster, action, "failed");
  options.log.warn("action failed", { ...fields, error: message });
  options.onActivity({ type: "action", cluster, atMs, action, text, error: message });
}

function backOffMs(count: number, maximumMs: number): number {
  return Math.min(maximumMs, 1000 * 2 ** (count - 1));
}
