// Gets one command carried out: nothing is begun while another command of the backup runs, an attempt is looked at before it
// is repeated, and failures are repeated after ever longer pauses. Rules: spec/backup.md [BK44]-[BK48].
import { conditionIn } from "../../kube/condition.ts";
import { labelsOf } from "../../api/effective.ts";
import type { BackupCommand } from "../../build/backup-command.ts";
import { commandIdentity, commandPod, programOf, purposeOf } from "../../build/command-pod.ts";
import type { BuildProblem } from "../../build/problem.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { isProtocolCompatible, parseVersion } from "../../model/version.ts";
import type { NewWait } from "../wait.ts";
import { commandEnd } from "./command-end.ts";
import type { CommandEnd } from "./command-end.ts";
import { troubleOf } from "./command-failure.ts";
import type { BackupSnapshot, Seen, Unseen } from "./snapshot.ts";
import type { BackupStepResult } from "./step.ts";

/** What a command needs to know; a restore lends the template of a backup. */
export type CommandView = Pick<
  BackupSnapshot,
  "nowMs" | "serverAheadMs" | "backup" | "cluster" | "commandPods"
> & { readonly layer: Seen<unknown> | Unseen };

export type CommandResult = Pick<BackupStepResult, "actions" | "waits">;

const backOffMs = 10_000;
const backOffMaximumMs = 300_000;
/** A finished command shows in the database by then; times of Kubernetes are whole seconds. */
const settleMs = 2_000;

/** How the newest attempt of this very command that has ended did; undefined when there is none. */
export function lastEnd(snapshot: CommandView, command: BackupCommand): CommandEnd | undefined {
  const purpose = purposeOf(command);
  return snapshot.commandPods
    .filter((pod) => commandIdentity(pod).purpose === purpose)
    .flatMap((pod) => commandEnd(snapshot, pod) ?? [])
    .toSorted((left, right) => left.attempt - right.attempt)
    .at(-1);
}

/**
 * What to do for a command that the database does not show as done. An end is believed only when the database was read
 * after it.
 */
export function runCommand(
  snapshot: CommandView,
  step: string,
  command: BackupCommand,
): CommandResult {
  const busy = unfinished(snapshot);
  if (busy !== undefined) return { waits: [busyWait(snapshot, step, command, busy)] };
  const unread = command.needsDatabase ? unreadChange(snapshot, command) : undefined;
  if (unread !== undefined) return { waits: [settlingWait(step, unread)] };
  const end = lastEnd(snapshot, command);
  if (end === undefined) return begin(snapshot, step, command, 1);
  if (end.isSuccess && !isReadSince(snapshot, end)) return { waits: [settlingWait(step, end)] };
  const wait = failureWait(snapshot, step, command, end);
  const pauseMs = Math.min(backOffMaximumMs, backOffMs * 2 ** Math.min(end.attempt - 1, 10));
  const leftMs = end.endedMs + pauseMs - snapshot.nowMs;
  if (leftMs > 0) return { waits: [{ ...wait, retryAfterMs: leftMs }] };
  const again = begin(snapshot, step, command, end.attempt + 1);
  return { ...again, waits: [...(again.waits ?? []), wait] };
}

/** While another attempt runs, why the one before failed is still what there is to know, unless this one does not start. */
function busyWait(
  snapshot: CommandView,
  step: string,
  command: BackupCommand,
  busy: Stored<Pod>,
): NewWait {
  const end = lastEnd(snapshot, command);
  const isRepeated = commandIdentity(busy).purpose === purposeOf(command);
  if (end === undefined || !isRepeated || startTrouble(busy) !== "") return runningWait(step, busy);
  return { ...failureWait(snapshot, step, command, end), retryAfterMs: 30_000 };
}

function begin(
  snapshot: CommandView,
  step: string,
  command: BackupCommand,
  attempt: number,
): CommandResult {
  // Other steps tell of the version and of the template, but not while the resource is being deleted.
  const isDeleted = snapshot.backup.metadata.deletionTimestamp !== undefined;
  const mismatch = command.needsDatabase ? versionWait(snapshot, step) : undefined;
  if (mismatch !== undefined) return isDeleted ? { waits: [mismatch] } : {};
  const pod = commandPod(snapshot.backup, command, attempt, clusterLabelKeys(snapshot));
  if (!pod.ok) return isDeleted ? { waits: [templateWait(step, pod.problem)] } : {};
  return { actions: [{ type: "createCommand", step, command: command.type, object: pod.value }] };
}

export function templateWait(step: string, { field, value, remedy }: BuildProblem): NewWait {
  const message = `${field} is ${value}`;
  return { step, reason: "PodTemplateUnusable", message, remedy, retryAfterMs: 300_000 };
}

function clusterLabelKeys({ cluster }: CommandView): string[] {
  if (cluster === undefined) return [];
  const { matchLabels, processClassLabels, processGroupIdLabels } = labelsOf(cluster);
  return [...Object.keys(matchLabels), ...processClassLabels, ...processGroupIdLabels];
}

/** Another command of this backup that has not ended. */
function unfinished(snapshot: CommandView): Stored<Pod> | undefined {
  return snapshot.commandPods.find((pod) => commandEnd(snapshot, pod) === undefined);
}

const changingTypes: readonly string[] = ["start", "modify", "discontinue", "abort"];

/** Another command has ended that may have changed the database, which was not read since: this one rests on what was before. */
function unreadChange(snapshot: CommandView, command: BackupCommand): CommandEnd | undefined {
  if (snapshot.layer.kind !== "seen") return undefined;
  const purpose = purposeOf(command);
  return snapshot.commandPods
    .filter((pod) => commandIdentity(pod).purpose !== purpose)
    .filter((pod) => changingTypes.includes(commandIdentity(pod).type))
    .flatMap((pod) => commandEnd(snapshot, pod) ?? [])
    .find((end) => !isReadSince(snapshot, end));
}

export function isReadSince(
  { layer }: Pick<CommandView, "layer">,
  { endedMs }: CommandEnd,
): boolean {
  return layer.kind === "seen" && layer.observedMs >= endedMs + settleMs;
}

/** It runs, or has ended and the database was not read since: nobody knows yet what came of it. */
export function isOpenCommand(
  snapshot: Pick<CommandView, "layer" | "nowMs" | "serverAheadMs">,
  pod: Stored<Pod>,
): boolean {
  const end = commandEnd(snapshot, pod);
  return end === undefined || !isReadSince(snapshot, end);
}

export function openWait(step: string): NewWait {
  return {
    step,
    reason: "BackupCommandRunning",
    message: "A command runs, or what came of it is being read",
    remedy: "Nothing: it passes by itself; the pod has a deadline of its own.",
    retryAfterMs: 5_000,
  };
}

function runningWait(step: string, pod: Stored<Pod>): NewWait {
  const { name = "" } = pod.metadata;
  const { type } = commandIdentity(pod);
  const trouble = startTrouble(pod);
  return {
    step,
    reason: "BackupCommandRunning",
    message: `${programOf(pod)} ${type} runs in pod ${name}${trouble === "" ? "" : `, which has not started: ${trouble}`}`,
    object: `pod/${name}`,
    remedy: `Nothing: the pod has a deadline of its own. If it lasts, look at \`kubectl describe pod ${name}\`.`,
    retryAfterMs: 30_000,
  };
}

/** Why the pod does not run, in the words of Kubernetes. */
export function startTrouble({ status }: Stored<Pod>): string {
  const scheduled = conditionIn(status, "PodScheduled");
  if (scheduled?.status === "False") return scheduled.message ?? scheduled.reason ?? "";
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = all.map(({ state }) => state?.waiting).find((each) => each?.message);
  return waiting === undefined ? "" : `${waiting.reason ?? ""}: ${waiting.message ?? ""}`;
}

function settlingWait(step: string, { pod }: CommandEnd): NewWait {
  const { name = "" } = pod.metadata;
  return {
    step,
    reason: "BackupCommandRunning",
    message: `The command of pod ${name} has ended, and what came of it is being read`,
    object: `pod/${name}`,
    remedy: "Nothing: it passes by itself.",
    retryAfterMs: 5_000,
  };
}

function failureWait(
  { backup }: CommandView,
  step: string,
  command: BackupCommand,
  end: CommandEnd,
): NewWait {
  // No object: the next attempt has another pod, and it is the same trouble.
  if (end.isSuccess) {
    return {
      step,
      reason: "BackupCommandFailed",
      message: `${command.program} ${command.type} ended well and the database shows nothing of it`,
      remedy: "Look at the log of its pod, and whether somebody else works on this tag.",
      retryAfterMs: backOffMs,
    };
  }
  return { step, ...troubleOf(backup, command, end), retryAfterMs: backOffMs };
}

/** A tool of another protocol than the database waits for ever. */
export function versionWait(snapshot: CommandView, step: string): NewWait | undefined {
  const { backup, cluster } = snapshot;
  const running = cluster?.status?.runningVersion || cluster?.spec.version || "";
  const [own, theirs] = [parseVersion(backup.spec.version), parseVersion(running)];
  if (own === undefined || theirs === undefined || isProtocolCompatible(own, theirs)) {
    return undefined;
  }
  return {
    step,
    reason: "BackupVersionMismatch",
    message: `The database runs ${running}: agents and tools of ${backup.spec.version} cannot speak to it`,
    remedy: `Set spec.version of the backup to ${running}.`,
    retryAfterMs: 60_000,
  };
}
