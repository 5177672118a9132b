// One pass over one backup: observe, plan, store the status, perform, and say when to look again.
// Rules: spec/backup.md [BK95]-[BK97].
import { foundationDbBackups } from "../../api/backup.ts";
import type { FoundationDBBackup } from "../../api/backup.ts";
import { foundationDbClusters } from "../../api/cluster.ts";
import type { ValidationProblem } from "../../api/problem.ts";
import { backupWarnings } from "../../api/validate-backup.ts";
import type { Clock } from "../../env/clock.ts";
import type { Log } from "../../env/log.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import type { WorkOutcome } from "../../kube/queue.ts";
import type { Stored } from "../../kube/resource.ts";
import type { ServerClock } from "../../kube/server-clock.ts";
import { planBackup } from "../../plan/backup/chain.ts";
import { isLeftAlone } from "../../plan/removal/protect-from-deletion.ts";
import type { Caches } from "../caches.ts";
import { datedPlan, storedWaits } from "../dated-plan.ts";
import { invalidResourceStatus } from "./invalid-resource.ts";
import { clusterAt, observeBackup, questionOf } from "./observe.ts";
import type { FollowedDatabase } from "./observe.ts";
import {
  againAfter,
  performAll,
  readOutputs,
  recordEvents,
  reportInvalid,
  staleMs,
  warnOfSpec,
  writeStatus,
} from "./pass.ts";
import { performBackupAction } from "./perform.ts";
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

/** How often the database is asked while something is awaited, and at rest. */
const busyMs = 3_000;
const restMs = 30_000;

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
  const { backups: cache } = options.caches;
  const subject = { resource: foundationDbBackups, cache, object: backup, state, figuresMs };
  if (problems.length > 0) {
    const status = invalidResourceStatus(backup, problems, options.clock.nowMs());
    const due = backupStatusDue(backup.status, status);
    return reportInvalid(options, subject, status, due, problems);
  }
  warnOfSpec(options, subject, backupWarnings(backup));
  const { namespace = "" } = backup.metadata;
  const database = options.database(`${namespace}/${backup.spec.clusterName}`);
  if (database?.client !== undefined) {
    state.reader.ask(database.client, questionOf(backup, options.clock.nowMs()), state.intervalMs);
  }
  const nowMs = options.clock.nowMs();
  const observed = observeBackup({
    ...{ backup, caches: options.caches, state, nowMs, database },
    serverAheadMs: options.serverClock.aheadMs,
    terminalPodMinimumAgeMs: options.terminalPodMinimumAgeMs,
  });
  const hidden = isDeleted && (await isClusterHidden(options, namespace, backup.spec.clusterName));
  const planned = planBackup(hidden ? { ...observed, layer: hiddenLayer } : observed);
  const plan = datedPlan(planned, state.waits ?? storedWaits(backup.status), nowMs);
  state.waits = plan.waits;
  state.facts = plan.facts;
  state.intervalMs = plan.isReconciled ? restMs : busyMs;
  const due = backupStatusDue(backup.status, plan.status);
  const written = await writeStatus(options, subject, plan.status, due);
  if (written === "conflict") return { againAfterMs: staleMs };
  recordEvents(options, subject, plan, backupEvents(backup.status, plan.status));
  state.times.ask(database?.client, plan.times);
  await readOutputs(options, subject, plan.reads);
  const outcomes = await performAll(options, subject, plan, (object, action) => {
    const { client, caches, clock, namespace: watched } = options;
    const input = { client, caches, state, database, namespace: watched, backup: object };
    return performBackupAction({ ...input, nowMs: () => clock.nowMs() }, action);
  });
  return { againAfterMs: againAfter(options, subject, plan, outcomes, written) };
}

export const hiddenLayer = {
  kind: "missing",
  reason: "Unreachable",
  message: "this operator does not look after that cluster",
} as const;

/** Our copy may hold only clusters with certain labels, so a missing one is looked for before it counts as gone. */
export async function isClusterHidden(
  { client, caches }: Pick<BackupReconcileOptions, "client" | "caches">,
  namespace: string,
  name: string,
): Promise<boolean> {
  if (clusterAt(caches, namespace, name) !== undefined) return false;
  const cluster = await client.find(foundationDbClusters, { namespace, name });
  return cluster !== undefined && !isLeftAlone(cluster);
}
