// One pass over one backup: observe, plan, store the status, perform, and say when to look again.
// Rules: spec/backup.md [BK95]-[BK97].
import { foundationDbBackups } from "../../api/backup.ts";
import type { BackupStatus, FoundationDBBackup } from "../../api/backup.ts";
import { foundationDbClusters } from "../../api/cluster.ts";
import type { ValidationProblem } from "../../api/problem.ts";
import { backupWarnings } from "../../api/validate-backup.ts";
import { mainContainerName } from "../../build/normalise.ts";
import type { Clock } from "../../env/clock.ts";
import { leastOf } from "../../env/long-lists.ts";
import type { Log } from "../../env/log.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isKubeError } from "../../kube/error.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import { keyOf, keyText } from "../../kube/path.ts";
import type { WorkOutcome } from "../../kube/queue.ts";
import type { Stored } from "../../kube/resource.ts";
import type { ServerClock } from "../../kube/server-clock.ts";
import { describeBackupAction } from "../../plan/backup/action.ts";
import { planBackup } from "../../plan/backup/chain.ts";
import type { BackupPlan } from "../../plan/backup/chain.ts";
import { isLeftAlone } from "../../plan/removal/protect-from-deletion.ts";
import type { Caches } from "../caches.ts";
import { invalidSpecReason, problemText } from "../invalid-spec.ts";
import { waitEvents } from "../transition-events.ts";
import { invalidBackupStatus } from "./invalid-backup.ts";
import { clusterOf, observeBackup, questionOf } from "./observe.ts";
import type { FollowedDatabase } from "./observe.ts";
import { performBackupAction } from "./perform.ts";
import type { BackupOutcome } from "./perform.ts";
import type { BackupState } from "./state.ts";
import { backupEvents, backupStatusDue, figuresMs } from "./status-writes.ts";

export interface BackupReconcileOptions {
  clock: Clock;
  log: Log;
  client: KubeClient;
  caches: Caches;
  recorder: EventRecorder;
  serverClock: ServerClock;
  /** The namespace that is looked after; all when absent. */
  namespace: string | undefined;
  terminalPodMinimumAgeMs: number;
  validate: (backup: FoundationDBBackup) => readonly ValidationProblem[];
  /** The database of a cluster (namespace/name), as the operator follows it. */
  database: (clusterKey: string) => FollowedDatabase | undefined;
  isStopped: () => boolean;
}

const soonMs = 50;
const staleMs = 250;
/** How often the database is asked while something is awaited, and at rest. */
const busyMs = 3_000;
const restMs = 30_000;
const failureMaximumMs = 60_000;

export async function reconcileBackup(
  options: BackupReconcileOptions,
  backup: Stored<FoundationDBBackup>,
  state: BackupState,
): Promise<WorkOutcome> {
  // No plan is made on a state that our own writes may have ended.
  const heldMs = await state.doubts.settle(options);
  if (heldMs > 0) return { againAfterMs: heldMs };
  const isDeleted = backup.metadata.deletionTimestamp !== undefined;
  const problems = isDeleted ? [] : options.validate(backup);
  if (problems.length > 0) return reportInvalid(options, backup, state, problems);
  warnOfSpec(options, backup, state);
  const { namespace = "" } = backup.metadata;
  const database = options.database(`${namespace}/${backup.spec.clusterName}`);
  if (database?.client !== undefined) {
    state.reader.ask(database.client, questionOf(backup), state.intervalMs);
  }
  const nowMs = options.clock.nowMs();
  const observed = observeBackup({
    ...{ backup, caches: options.caches, state, nowMs, database },
    serverAheadMs: options.serverClock.aheadMs,
    terminalPodMinimumAgeMs: options.terminalPodMinimumAgeMs,
  });
  const hidden = isDeleted && (await isClusterHidden(options, backup));
  const plan = planBackup(hidden ? { ...observed, layer: hiddenLayer } : observed);
  state.waits = plan.waits;
  state.intervalMs = plan.isReconciled ? restMs : busyMs;
  const written = await writeStatus(options, backup, state, plan.status);
  if (written === "conflict") return { againAfterMs: staleMs };
  recordEvents(options, backup, state, plan);
  await readOutputs(options, backup, state, plan.reads);
  const outcomes = await perform(options, backup, state, plan, database);
  return { againAfterMs: againAfter(options, state, plan, outcomes, written) };
}

const hiddenLayer = {
  kind: "missing",
  reason: "Unreachable",
  message: "this operator does not look after that cluster",
} as const;

/** Our copy may hold only clusters with certain labels, so a missing one is looked for before it counts as gone. */
async function isClusterHidden(
  { client, caches }: BackupReconcileOptions,
  backup: FoundationDBBackup,
): Promise<boolean> {
  if (clusterOf(caches, backup) !== undefined) return false;
  const key = { namespace: backup.metadata.namespace ?? "", name: backup.spec.clusterName };
  const cluster = await client.find(foundationDbClusters, key);
  return cluster !== undefined && !isLeftAlone(cluster);
}

async function writeStatus(
  options: BackupReconcileOptions,
  backup: Stored<FoundationDBBackup>,
  state: BackupState,
  status: BackupStatus,
): Promise<"unchanged" | "written" | "held" | "conflict"> {
  const due = backupStatusDue(backup.status, status);
  if (due === "unchanged") return "unchanged";
  const nowMs = options.clock.nowMs();
  if (due === "figures" && nowMs - state.statusWrittenMs < figuresMs) return "held";
  const cache = options.caches.backups;
  const place = { resource: foundationDbBackups, cache, key: keyOf(backup) };
  state.ownWrites.begin();
  try {
    const stored = await state.doubts.during(place, () =>
      options.client.updateStatus(foundationDbBackups, { ...backup, status }),
    );
    cache.observeWrite(stored);
    state.ownWrites.end(stored.metadata.resourceVersion);
    state.statusWrittenMs = nowMs;
    return "written";
  } catch (error) {
    state.ownWrites.end(undefined);
    if (!isKubeError(error, "Conflict") && !isKubeError(error, "NotFound")) throw error;
    return "conflict";
  }
}

/** Told when it is stored, so that a lost race tells nothing twice. */
function recordEvents(
  options: BackupReconcileOptions,
  backup: Stored<FoundationDBBackup>,
  state: BackupState,
  plan: BackupPlan,
): void {
  const nowMs = options.clock.nowMs();
  const waiting = waitEvents(plan.waits, state.toldWaits, backup.status, nowMs);
  state.toldWaits = waiting.told;
  for (const { type, reason, message } of [
    ...plan.events,
    ...backupEvents(backup.status, plan.status),
    ...waiting.events,
  ]) {
    options.recorder.record(backup, type, reason, message);
  }
}

/** More than this no tool prints that is read here. */
const outputBytesMax = 1_000_000;

/** Only what the last plan wants is kept. */
async function readOutputs(
  { client }: BackupReconcileOptions,
  backup: Stored<FoundationDBBackup>,
  state: BackupState,
  names: readonly string[],
): Promise<void> {
  const { namespace = "" } = backup.metadata;
  for (const name of names) {
    if (state.outputs.has(name)) continue;
    const options = { container: mainContainerName, limitBytes: outputBytesMax };
    const text = await client.podLog({ namespace, name }, options);
    state.outputs.set(name, text);
  }
  for (const name of state.outputs.keys()) {
    if (!names.includes(name)) state.outputs.delete(name);
  }
}

async function perform(
  options: BackupReconcileOptions,
  backup: Stored<FoundationDBBackup>,
  state: BackupState,
  plan: BackupPlan,
  database: FollowedDatabase | undefined,
): Promise<BackupOutcome[]> {
  const outcomes: BackupOutcome[] = [];
  const { client, caches, clock, namespace } = options;
  for (const action of plan.actions) {
    if (options.isStopped()) break;
    // The status may have been written since, which gives the resource another version.
    const newest = caches.backups.get(keyOf(backup)) ?? backup;
    const input = { client, caches, state, database, namespace, backup: newest };
    const outcome = await performBackupAction({ ...input, nowMs: () => clock.nowMs() }, action);
    note(options, backup, state, outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

function note(
  options: BackupReconcileOptions,
  backup: Stored<FoundationDBBackup>,
  state: BackupState,
  outcome: BackupOutcome,
): void {
  const { action } = outcome;
  const what = describeBackupAction(action);
  const fields = { backup: keyText(keyOf(backup)), step: action.step, action: what };
  if (outcome.kind === "done") {
    state.failures.delete(what);
    options.log.info("action performed", fields);
    return;
  }
  if (outcome.kind === "stale") return options.log.debug("the object had changed", fields);
  const { message } = outcome;
  const count = (state.failures.get(what)?.count ?? 0) + 1;
  const pauseMs = Math.min(failureMaximumMs, 1000 * 2 ** Math.min(count - 1, 10));
  const retryAtMs = options.clock.nowMs() + pauseMs;
  state.failures.set(what, { key: what, step: action.step, what, message, retryAtMs, count });
  options.log.warn("action failed", { ...fields, error: message });
}

function againAfter(
  { clock }: BackupReconcileOptions,
  state: BackupState,
  plan: BackupPlan,
  outcomes: readonly BackupOutcome[],
  written: "unchanged" | "written" | "held",
): number {
  forgetFailures(state, plan);
  const nowMs = clock.nowMs();
  const times = [state.intervalMs];
  for (const { retryAtMs } of plan.waits) times.push(Math.max(soonMs, retryAtMs - nowMs));
  for (const { retryAtMs } of state.failures.values()) {
    times.push(Math.max(soonMs, retryAtMs - nowMs));
  }
  if (outcomes.some(({ kind }) => kind === "done") || plan.reads.length > 0) times.push(soonMs);
  if (outcomes.some(({ kind }) => kind === "stale")) times.push(staleMs);
  if (written === "held") times.push(Math.max(soonMs, state.statusWrittenMs + figuresMs - nowMs));
  return leastOf(times);
}

/** What is not wanted any more has not failed. */
function forgetFailures(state: BackupState, plan: BackupPlan): void {
  const wanted = new Set(plan.wanted);
  for (const key of state.failures.keys()) if (!wanted.has(key)) state.failures.delete(key);
}

/** Once for each generation: what the resource asks for, is valid, and is worth a thought. */
function warnOfSpec(
  { recorder }: BackupReconcileOptions,
  backup: Stored<FoundationDBBackup>,
  state: BackupState,
): void {
  const { generation } = backup.metadata;
  if (state.warnedGeneration === generation) return;
  state.warnedGeneration = generation;
  for (const { field, message, remedy } of backupWarnings(backup)) {
    recorder.record(backup, "Warning", "SpecWarning", `${field}: ${message} (${remedy})`);
  }
}

async function reportInvalid(
  options: BackupReconcileOptions,
  backup: Stored<FoundationDBBackup>,
  state: BackupState,
  problems: readonly ValidationProblem[],
): Promise<WorkOutcome> {
  const status = invalidBackupStatus(backup, problems, options.clock.nowMs());
  const isTold = backup.status?.blockedBy?.some(({ reason }) => reason === invalidSpecReason);
  const written = await writeStatus(options, backup, state, status);
  if (written === "conflict") return { againAfterMs: staleMs };
  if (state.reportedGeneration === backup.metadata.generation) return {};
  state.reportedGeneration = backup.metadata.generation;
  const text = problemText(problems);
  options.log.warn("spec not valid", { backup: keyText(keyOf(backup)), problems: text });
  // A stored report means that an operator before this one has told of it already.
  if (isTold !== true || written === "written") {
    options.recorder.record(backup, "Warning", "FoundationDBBackup not valid", text);
  }
  return {};
}
