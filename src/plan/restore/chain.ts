// The ordered list of steps for a restore, and the function that runs a snapshot through it. Rules: spec/restore.md [RS24].
import { append } from "../../env/long-lists.ts";
import { wasStarted } from "../../api/effective-restore.ts";
import type { RestoreStatus } from "../../api/restore.ts";
import { programOf } from "../../build/command-pod.ts";
import { describeBackupAction } from "../backup/action.ts";
import type { BackupAction } from "../backup/action.ts";
import { failureWaits, withoutFailed } from "../backup/failed-actions.ts";
import { removeCommands } from "../backup/remove-commands.ts";
import type { PlanEvent } from "../step.ts";
import type { NewWait } from "../wait.ts";
import { datedFacts } from "../facts.ts";
import { areOwnAgentsSilent, proveAgents, updateRestoreAgents } from "./agents.ts";
import { concludeRestore } from "./conclude.ts";
import type { RestoreConclusion } from "./conclude.ts";
import { deleteRestore } from "./deletion.ts";
import { checkDestination } from "./destination.ts";
import { followRestore } from "./follow.ts";
import type { RestoreDraft, RestoreFacts, RestoreSnapshot, RestoreStep } from "./snapshot.ts";
import { lookMs, startRestore } from "./start.ts";

const chain: readonly RestoreStep[] = [
  // What the database shows of it.
  { name: "followRestore", run: followRestore },
  // Pods of commands that ended are kept for a while.
  { name: "removeCommands", run: (snapshot) => removeCommands(snapshot, lookMs(snapshot)) },
  // The finalizer, and the abort of one that is deleted.
  { name: "deleteRestore", run: deleteRestore },
  // Nothing is written over, and nobody else is at work.
  { name: "checkDestination", run: checkDestination },
  { name: "updateRestoreAgents", run: updateRestoreAgents },
  { name: "proveAgents", run: proveAgents },
  { name: "startRestore", run: startRestore },
];

export interface RestorePlan extends RestoreConclusion {
  readonly actions: readonly BackupAction[];
  readonly events: readonly PlanEvent[];
  readonly wanted: readonly string[];
  readonly reads: readonly string[];
  /** What the next pass has to know. */
  readonly facts: RestoreFacts;
}

export function planRestore(snapshot: RestoreSnapshot): RestorePlan {
  const events: PlanEvent[] = [];
  const actions: BackupAction[] = [];
  const reads: string[] = [];
  const waits: NewWait[] = failureWaits(snapshot);
  const findings = { agentsSilent: areOwnAgentsSilent(snapshot) };
  const facts = datedFacts(snapshot.facts, findings, snapshot.nowMs);
  let draft: RestoreDraft = { status: startingStatus(snapshot), facts, actions };
  for (const { run } of chain) {
    const result = run(snapshot, draft);
    append(actions, result.actions ?? []);
    append(waits, result.waits ?? []);
    append(events, result.events ?? []);
    append(reads, result.reads ?? []);
    draft = { ...draft, status: { ...draft.status, ...result.status } };
    if (result.stop === true) break;
  }
  const wanted = actions.map(describeBackupAction);
  const due = withoutFailed(snapshot, actions);
  const conclusion = concludeRestore(snapshot, draft, waits);
  return { actions: due, wanted, reads, events, facts, ...conclusion };
}

/** What is not seen anew stays as it was last seen. What was to be started counts while its command is there. */
function startingStatus({ restore, commandPods }: RestoreSnapshot): RestoreStatus {
  const { conditions: _c, blockedBy: _b, ...kept } = restore.status ?? {};
  const isStarting = commandPods.some((pod) => programOf(pod) === "fdbrestore");
  if (wasStarted(restore) || isStarting) return kept;
  const { target: _target, tag: _tag, earlierUID: _uid, ...rest } = kept;
  return rest;
}
