// The end of a plan about a restore: conditions, in plain words about what the destination holds now, and waits.
// Rules: spec/restore.md [RS80], [RS81].
import { conditionIn } from "../../kube/condition.ts";
import type { RestoreSpec, RestoreStatus } from "../../api/restore.ts";
import { datedConditions } from "../status/status-conditions.ts";
import type { Judgement } from "../status/judgement.ts";
import type { NewWait } from "../wait.ts";
import { isOver, wasStarted } from "../../api/effective-restore.ts";
import type { RestoreDraft, RestoreSnapshot } from "./snapshot.ts";

export interface RestoreConclusion {
  readonly status: Omit<RestoreStatus, "blockedBy">;
  readonly waits: readonly NewWait[];
  /** Nothing will change any more by itself: its end is stored, and its agents and its finalizer are gone. */
  readonly isAtRest: boolean;
}

export function concludeRestore(
  snapshot: RestoreSnapshot,
  draft: RestoreDraft,
  waits: readonly NewWait[],
): RestoreConclusion {
  const { restore, nowMs } = snapshot;
  const after = { ...restore, status: draft.status };
  const isEnded = isOver(after);
  const isDone = isEnded && draft.status.state === "completed";
  const generation = restore.metadata.generation ?? 0;
  const judgements = {
    Reconciled: reconciled(draft, waits, isEnded, generation),
    Running: running(after),
    Completed: completed(snapshot, after),
  };
  return {
    waits,
    isAtRest: isOver(restore) && draft.actions.length === 0,
    status: {
      ...draft.status,
      conditions: datedConditions(restore, nowMs, judgements),
      ...(isDone ? { generations: { reconciled: generation } } : {}),
    },
  };
}

function reconciled(
  { status, actions }: RestoreDraft,
  waits: readonly NewWait[],
  isEnded: boolean,
  generation: number,
): Judgement {
  if (isEnded && status.state === "completed") {
    return judge("True", "ReconciliationComplete", `Reconciled generation ${generation}`);
  }
  if (isEnded) return judge("False", "Aborted", "The restore was aborted");
  const [wait] = waits;
  if (wait !== undefined && actions.length === 0) return judge("False", wait.reason, wait.message);
  return judge("False", "Reconciling", "The restore is being brought about");
}

type After = RestoreSnapshot["restore"];

function running(after: After): Judgement {
  const { state = "", target } = after.status ?? {};
  if (isOver(after)) return judge("False", ended(state), `The restore is ${state}`);
  if (!wasStarted(after)) return judge("False", "NotStarted", "The restore was not started yet");
  return judge("True", "Running", `The restore to version ${target?.version ?? 0} was started`);
}

function ended(state: string): string {
  return state === "completed" ? "Completed" : "Aborted";
}

/** A database of which only ranges were restored is not of one version. */
function restoredText(spec: RestoreSpec, version: string): string {
  const { destinationClusterName: name, keyRanges = [], addPrefix = "" } = spec;
  if (keyRanges.length === 0 && addPrefix === "") {
    return `The database of ${name} was restored${version}, and is not locked by the restore any more`;
  }
  const prefix = addPrefix === "" ? "" : ` under the prefix ${addPrefix}`;
  const count = keyRanges.length;
  const what =
    count === 0 ? "The keys of users were" : count === 1 ? "One range was" : `${count} ranges were`;
  return `${what} restored${version} into the database of ${name}${prefix}; the database is not locked by the restore any more`;
}

function completed({ restore }: RestoreSnapshot, after: After): Judgement {
  const name = restore.spec.destinationClusterName;
  const { state, target, progress } = after.status ?? {};
  if (!isOver(after)) {
    return wasStarted(after)
      ? judge(
          "False",
          "Running",
          `The database of ${name} is locked, and what lies in the restored ranges is not complete`,
        )
      : judge("False", "NotStarted", `Nothing was written into the database of ${name}`);
  }
  if (state === "completed") {
    // The spec may have been changed since.
    const told = conditionIn(restore.status, "Completed");
    if (told?.status === "True") return judge("True", told.reason, told.message);
    const version = target?.version === undefined ? "" : ` to version ${target.version}`;
    return judge("True", "Completed", restoredText(restore.spec, version));
  }
  if (progress?.bytes === 0) {
    return judge(
      "False",
      "Aborted",
      `The restore was aborted before it had written anything; the database of ${name} is not locked by it any more`,
    );
  }
  return judge(
    "False",
    "Aborted",
    `The restore was aborted: the database of ${name} ${progress === undefined ? "may hold" : "holds"} a part of the data that fits no version, and is writable. Clear the restored ranges before anybody uses them or another restore begins`,
  );
}

function judge(status: Judgement["status"], reason: string, message: string): Judgement {
  return { status, reason, message: message.slice(0, 4096) };
}
