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
import type { BackupAction } from "../../plan/backup/action.ts";
import { planBackup } from "../../plan/backup/chain.ts";
import { isAnythingLeft, removalOf } from "../../plan/backup/drill-objects.ts";
import { isLeftAlone } from "../../plan/removal/protect-from-deletion.ts";
import type { Caches } from "../caches.ts";
import { datedPlan, storedWaits } from "../dated-plan.ts";
import { standBack } from "../overlap.ts";
import { invalidResourceStatus } from "./invalid-resource.ts";
import {
  stoppedSince,
  clusterAt,
  clusterOf,
  drillObjectsOf,
  observeBackup,
  questionOf,
} from "./observe.ts";
import type { FollowedDatabase } from "./observe.ts";
import {
  againAfter,
  performAll,
  readOutputs,
  recordEvents,
  reportInvalid,
  staleMs,
  waitingMs,
  warnOfSpec,
  writeStatus,
} from "./pass.ts";
import type { PassSubject } from "./pass.ts";
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
  /** See OverlapTools. */
  operatorName: string | undefined;
  /** The namespace that is looked after; all when absent. */
  namespace: string | undefined;
  terminalPodMinimumAgeMs: number;
  validate: (backup: FoundationDBBackup) => readonly ValidationProblem[];
  /** The database of a cluster (namespace/name), as the operator follows it. */
  database: (clusterKey: string) => FollowedDatabase | undefined;
  isStopped: () => boolean;
}

/** How often the database is asked at rest. */
const restMs = 30_000;
/** What drills have made is looked for again, as long as something is there. */
const leftOverMs = 15_000;

export async function reconcileBackup(
  options: BackupReconcileOptions,
  backup: Stored<FoundationDBBackup>,
  state: BackupState,
): Promise<WorkOutcome> {
  // No plan is made on a state that our own writes may have ended.
  const heldMs = await state.doubts.settle(options);
  if (heldMs > 0) return { againAfterMs: heldMs };
  const { backups } = options.caches;
  const place = { resource: foundationDbBackups, cache: backups, object: backup, state };
  const cluster = clusterOf(options.caches, backup);
  const back = await standBack(options, { ...place, cluster });
  if (back !== undefined) return back;
  const isDeleted = backup.metadata.deletionTimestamp !== undefined;
  const problems = isDeleted ? [] : options.validate(backup);
  const subject = { ...place, figuresMs };
  if (problems.length > 0) {
    const told = invalidResourceStatus(backup, problems, options.clock.nowMs());
    const { drill: _, ...status } = told;
    const due = backupStatusDue(backup.status, status);
    const outcome = await reportInvalid(options, subject, status, due, problems);
    return (await dropDrills(options, subject)) ? { againAfterMs: leftOverMs } : outcome;
  }
  warnOfSpec(options, subject, backupWarnings(backup));
  const { namespace = "" } = backup.metadata;
  const database = options.database(`${namespace}/${backup.spec.clusterName}`);
  if (stoppedSince(cluster) !== undefined) state.reader.forget();
  else if (database?.client !== undefined) {
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
  state.intervalMs = plan.isReconciled ? restMs : waitingMs(plan.waits);
  const due = backupStatusDue(backup.status, plan.status);
  const written = await writeStatus(options, subject, plan.status, due);
  if (written === "conflict") return { againAfterMs: staleMs };
  recordEvents(options, subject, plan, backupEvents(backup.status, plan.status));
  state.times.ask(database?.client, plan.times);
  const measured = plan.figures && options.database(`${namespace}/${plan.figures.clusterName}`);
  state.figures.ask(measured?.client, plan.figures);
  const isNews = await readOutputs(options, subject, plan.reads);
  const perform = performer(options, state, database);
  const outcomes = await performAll(options, subject, plan, perform);
  return { againAfterMs: againAfter(options, subject, plan, { outcomes, written, isNews }) };
}

/** Nothing is done for a backup whose spec cannot be right, but nothing of a drill stays either; whether anything is left. */
async function dropDrills(
  options: BackupReconcileOptions,
  subject: PassSubject<Stored<FoundationDBBackup>> & { readonly state: BackupState },
): Promise<boolean> {
  const left = drillObjectsOf(options.caches, subject.object);
  const actions = removalOf(left, () => false);
  const plan = { actions, waits: [], events: [], wanted: [], reads: [] };
  await performAll(options, subject, plan, performer(options, subject.state, undefined));
  return isAnythingLeft(left);
}

function performer(
  { client, caches, clock, namespace }: BackupReconcileOptions,
  state: BackupState,
  database: FollowedDatabase | undefined,
): (backup: Stored<FoundationDBBackup>, action: BackupAction) => Promise<void> {
  const input = { client, caches, state, database, namespace, nowMs: () => clock.nowMs() };
  return (backup, action) => performBackupAction({ ...input, backup }, action);
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
