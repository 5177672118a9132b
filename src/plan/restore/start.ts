// Step startRestore: the store is looked at with the template of everybody who may take a task, the version is chosen, and
// then `fdbrestore start` runs, once. Rules: spec/restore.md [RS31], [RS47], [RS60]-[RS63].
import { isOver, restoreTagOf } from "../../api/effective-restore.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import { describeCommand } from "../../build/backup-command.ts";
import { maskedUrl } from "../../build/backup-url.ts";
import { startRestoreCommand } from "../../build/restore-command.ts";
import { backupFinalizer } from "../backup/deletion.ts";
import { noDescriptionWait, parseDescription, readingWait } from "../backup/description.ts";
import type { Description } from "../backup/description.ts";
import { inNewPlace } from "../backup/moved.ts";
import { isReadSince, lastEnd, runCommand } from "../backup/run-command.ts";
import type { NewWait } from "../wait.ts";
import { wantsFinalizer } from "./deletion.ts";
import { commandView, foreignRecord, isBegun, lenders, sourceUrl } from "./facts.ts";
import { targetOf, windowOf } from "./point.ts";
import type { NoTarget } from "./point.ts";
import { nothing } from "./snapshot.ts";
import type { RestoreSnapshot, RestoreStepResult } from "./snapshot.ts";

const step = "startRestore";

export function startRestore(snapshot: RestoreSnapshot): RestoreStepResult {
  const { restore } = snapshot;
  if (isOver(restore) || isBegun(snapshot)) return nothing;
  const [lender] = lenders(snapshot);
  if (lender === undefined) return nothing;
  const finalizers = restore.metadata.finalizers ?? [];
  // A restore that is deleted in the next moment is aborted all the same.
  if (wantsFinalizer(snapshot) && !finalizers.includes(backupFinalizer)) return nothing;
  const view = commandView(snapshot, lender);
  const [tag, url] = [restoreTagOf(restore), sourceUrl(snapshot)];
  const context = `restore ${restore.metadata.uid ?? ""}`;
  const attempted = lastEnd(
    view,
    startRestoreCommand(lender, restore.spec, { tag, url, version: 0 }, context),
  );
  if (attempted !== undefined && !isReadSince(view, attempted)) return { waits: [settling] };
  const looked = lookAtStore(snapshot, `${context} ${attempted?.attempt ?? 0}`);
  if ("result" in looked) return looked.result;
  const { description, reads } = looked;
  const window = windowOf(description);
  if (window === undefined) return { waits: [notRestorable(url)], reads };
  const found = targetOf(snapshot, step, window);
  if ("wait" in found) {
    return { waits: [found.wait], reads, status: { window, url: maskedUrl(url) } };
  }
  const { target } = found;
  const earlierUID = foreignRecord(snapshot)?.uid;
  const command = startRestoreCommand(
    lender,
    restore.spec,
    { tag, url, version: target.version },
    context,
  );
  return {
    ...runCommand(view, step, command),
    reads,
    // Stored before the command is begun: whoever takes over knows what was to be started.
    status: {
      window,
      target,
      tag,
      url: maskedUrl(url),
      ...(earlierUID === undefined ? {} : { earlierUID }),
    },
  };
}

/** Why the point was out of reach when the store was last looked at: while it is looked at anew nothing else is known. */
function knownOutside(snapshot: RestoreSnapshot): NoTarget | undefined {
  const { window, url } = snapshot.restore.status ?? {};
  if (window?.from === undefined || window.to === undefined) return undefined;
  if (url !== maskedUrl(sourceUrl(snapshot))) return undefined;
  const found = targetOf(snapshot, step, { from: window.from, to: window.to });
  return "wait" in found ? found : undefined;
}

/** What was expired does not come back, so the store is not asked about it every few minutes. */
const earlyLookMs = 3_600_000;

/** How long what the store has told about the window is good. */
export function lookMs(snapshot: RestoreSnapshot): number {
  return knownOutside(snapshot)?.isEarly === true ? earlyLookMs : 0;
}

type Look =
  | { readonly description: Description; readonly reads: readonly string[] }
  | { readonly result: RestoreStepResult };

/** Everybody who may take a task must be able to read the backup: the last look is the one that is believed. */
function lookAtStore(snapshot: RestoreSnapshot, context: string): Look {
  const url = sourceUrl(snapshot);
  const all = lenders(snapshot);
  let name = "";
  for (const [index, lender] of all.entries()) {
    const view = commandView(snapshot, lender);
    const command = describeCommand(lender, url, `${context} ${index}`);
    const end = lastEnd(view, command);
    if (end?.isSuccess !== true) {
      if (/Backup does not exist/.test(end?.message ?? "")) {
        return { result: again(snapshot, lender, command, notThere(url)) };
      }
      const result = runCommand(view, step, command);
      const known = end === undefined ? knownOutside(snapshot) : undefined;
      return { result: known === undefined ? result : { ...result, waits: [known.wait] } };
    }
    name = end.pod.metadata.name ?? "";
  }
  const output = snapshot.outputs.get(name);
  const reads = [name];
  if (output === undefined)
    return { result: { reads, waits: [readingWait(snapshot, step, name)] } };
  const description = parseDescription(output);
  if (description === undefined)
    return { result: { reads, waits: [noDescriptionWait(step, name, "nothing is restored")] } };
  const { restore, source, writer } = snapshot;
  const { moved } = (restore.spec.fromBackup === undefined ? writer : source)?.status ?? {};
  return { description: moved === undefined ? description : inNewPlace(description, moved), reads };
}

/** It is looked at again, as after any failure, and the wait says what was found. */
function again(
  snapshot: RestoreSnapshot,
  lender: FoundationDBBackup,
  command: ReturnType<typeof describeCommand>,
  wait: NewWait,
): RestoreStepResult {
  const { actions = [] } = runCommand(commandView(snapshot, lender), step, command);
  return { actions, waits: [wait] };
}

const settling: NewWait = {
  step,
  reason: "BackupCommandRunning",
  message: "fdbrestore start has ended, and what came of it is being read",
  remedy: "Nothing: it passes by itself.",
  retryAfterMs: 5_000,
};

function notThere(url: string): NewWait {
  return {
    step,
    reason: "RestoreNotRestorable",
    message: `There is no backup at ${maskedUrl(url)}`,
    remedy: "Compare backupName and bucket with what lies in the store.",
    retryAfterMs: 60_000,
  };
}

function notRestorable(url: string): NewWait {
  return {
    step,
    reason: "RestoreNotRestorable",
    message: `The backup at ${maskedUrl(url)} has no point that can be restored: no snapshot is complete with the log behind it`,
    remedy: "If it still runs, wait for its first snapshot; it is looked at again.",
    retryAfterMs: 60_000,
  };
}
