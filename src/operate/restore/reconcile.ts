// One pass over one restore: observe, plan, store the status, perform, and say when to look again.
// Rules: spec/restore.md [RS24], [RS82].
import { isOver, pointOf, wasStarted } from "../../api/effective-restore.ts";
import type { ValidationProblem } from "../../api/problem.ts";
import { foundationDbRestores } from "../../api/restore.ts";
import type { FoundationDBRestore } from "../../api/restore.ts";
import { restoreWarnings } from "../../api/validate-restore.ts";
import type { WorkOutcome } from "../../kube/queue.ts";
import { configMaps } from "../../kube/resource.ts";
import type { Stored } from "../../kube/resource.ts";
import { isAhead, parseTimeLines, parseTimeMap, timeMapName } from "../../model/backup-time-map.ts";
import type { TimedVersion, TimePair } from "../../model/backup-time-map.ts";
import { extendTimeMap } from "../../model/backup-time-thinning.ts";
import { planRestore } from "../../plan/restore/chain.ts";
import { isBegun } from "../../plan/restore/facts.ts";
import { datedPlan, storedWaits } from "../dated-plan.ts";
import { invalidResourceStatus } from "../backup/invalid-resource.ts";
import {
  againAfter,
  patientMs,
  performAll,
  readOutputs,
  recordEvents,
  reportInvalid,
  soonMs,
  staleMs,
  waitingMs,
  warnOfSpec,
  writeStatus,
} from "../backup/pass.ts";
import { hiddenLayer, isClusterHidden } from "../backup/reconcile.ts";
import type { BackupReconcileOptions } from "../backup/reconcile.ts";
import { standBack } from "../overlap.ts";
import { clusterAt, stoppedSince } from "../backup/observe.ts";
import { observeRestore, questionOf } from "./observe.ts";
import { performRestoreAction } from "./perform.ts";
import type { RestoreState } from "./state.ts";
import { progressMs, restoreEvents, restoreStatusDue } from "./status-writes.ts";

export interface RestoreReconcileOptions extends Omit<BackupReconcileOptions, "validate"> {
  validate: (restore: FoundationDBRestore) => readonly ValidationProblem[];
  /** The newest times that the database of a backup (namespace/name) has noted, the newest first. */
  recentTimes: (backupKey: string) => readonly TimedVersion[];
}

/** Pods of ended commands are to go then. */
const leftOverMs = 60_000;

export async function reconcileRestore(
  options: RestoreReconcileOptions,
  restore: Stored<FoundationDBRestore>,
  state: RestoreState,
): Promise<WorkOutcome> {
  const heldMs = await state.doubts.settle(options);
  if (heldMs > 0) return { againAfterMs: heldMs };
  const { clock, caches } = options;
  const place = { resource: foundationDbRestores, cache: caches.restores, object: restore, state };
  const { namespace = "" } = restore.metadata;
  const { destinationClusterName } = restore.spec;
  const cluster = clusterAt(caches, namespace, destinationClusterName);
  const back = await standBack(options, { ...place, cluster });
  if (back !== undefined) return back;
  const isDeleted = restore.metadata.deletionTimestamp !== undefined;
  const isEnded = isOver(restore);
  const isJudged = isDeleted || isEnded || wasStarted(restore);
  const problems = isJudged ? [] : options.validate(restore);
  const subject = { ...place, figuresMs: progressMs };
  const database = options.database(`${namespace}/${destinationClusterName}`);
  const isTimed = !isJudged && problems.length === 0;
  const timeline = isTimed ? await timelineOf(options, restore, state) : [];
  const observe = (): ReturnType<typeof observeRestore> =>
    observeRestore({
      ...{ restore, caches, state, nowMs: clock.nowMs(), database, timeline },
      serverAheadMs: options.serverClock.aheadMs,
      terminalPodMinimumAgeMs: options.terminalPodMinimumAgeMs,
    });
  // A start may be under way when the spec is made invalid: what it has started is followed all the same.
  const mayRun = restore.status?.target !== undefined;
  const isAsked = problems.length === 0 || mayRun;
  const isAsleep = stoppedSince(cluster) !== undefined;
  if (isAsleep) state.reader.forget();
  else if (!isEnded && isAsked && database?.client !== undefined) {
    state.reader.ask(database.client, questionOf(restore, observe()), state.intervalMs);
  }
  if (problems.length > 0 && !(mayRun && isBegun(observe()))) {
    const status = invalidResourceStatus(restore, problems, clock.nowMs());
    const due = restoreStatusDue(restore.status, status);
    const outcome = await reportInvalid(options, subject, status, due, problems);
    return mayRun ? { againAfterMs: patientMs } : outcome;
  }
  if (isTimed) warnOfSpec(options, subject, restoreWarnings(restore));
  const isHidden = isDeleted && (await isClusterHidden(options, namespace, destinationClusterName));
  const snapshot = isHidden ? { ...observe(), layer: hiddenLayer } : observe();
  const before = state.waits ?? storedWaits(restore.status);
  const plan = datedPlan(planRestore(snapshot), before, clock.nowMs());
  state.waits = plan.waits;
  state.facts = plan.facts;
  state.intervalMs = waitingMs(plan.waits);
  const due = restoreStatusDue(restore.status, plan.status);
  const written = await writeStatus(options, subject, plan.status, due);
  if (written === "conflict") return { againAfterMs: staleMs };
  recordEvents(options, subject, plan, restoreEvents(restore.status, plan.status));
  const isNews = await readOutputs(options, subject, plan.reads);
  const outcomes = await performAll(options, subject, plan, (object, action) => {
    const { client } = options;
    const input = { client, caches, state, database, snapshot, restore: object };
    return performRestoreAction({ ...input, nowMs: () => clock.nowMs() }, action);
  });
  if (plan.isAtRest) return snapshot.commandPods.length > 0 ? { againAfterMs: leftOverMs } : {};
  // What is left after the end waits for nothing.
  const isEndStored = written === "written" && isOver({ ...restore, status: plan.status });
  if (!isEnded && isEndStored) return { againAfterMs: soonMs };
  return { againAfterMs: againAfter(options, subject, plan, { outcomes, written, isNews }) };
}

const timelineMs = 30_000;

/** What is known about times: the pairs of the spec, or those that are kept beside the backup, and the newest of its database. */
async function timelineOf(
  { client, clock, recentTimes }: RestoreReconcileOptions,
  { metadata, spec }: FoundationDBRestore,
  state: RestoreState,
): Promise<readonly TimePair[]> {
  const { namespace = "" } = metadata;
  const { timeline = [], fromBackup = "" } = spec;
  const nowMs = clock.nowMs();
  const past = (pairs: readonly TimePair[]): TimePair[] =>
    pairs.filter((pair) => !isAhead(pair, nowMs));
  if (timeline.length > 0) return past(parseTimeLines(timeline));
  if (pointOf(spec).kind === "latest" || fromBackup === "") return [];
  if (state.timeline === undefined || nowMs - state.timeline.readMs >= timelineMs) {
    const found = await client.find(configMaps, { namespace, name: timeMapName(fromBackup) });
    state.timeline = { readMs: nowMs, pairs: past(parseTimeMap(found?.data)) };
  }
  const recent = recentTimes(`${namespace}/${fromBackup}`);
  return extendTimeMap(state.timeline.pairs, recent.toReversed());
}
