// One pass over one cluster: observe, plan, store the decision, perform, and say when to look again. The decision is
// stored before it is carried out, so that a crash in between forgets nothing. Rules: spec/operate.md [OP31]-[OP42], [OP52]-[OP53], [OP78].
import { leastOf } from "../env/long-lists.ts";
import { foundationDbClusters } from "../api/cluster.ts";
import type { FoundationDBCluster } from "../api/cluster.ts";
import type { ValidationProblem } from "../api/problem.ts";
import { clusterWarnings } from "../api/validate-cluster.ts";
import { randomInteger } from "../env/random.ts";
import { keyOf, keyText, parseKeyText } from "../kube/path.ts";
import type { WorkOutcome } from "../kube/queue.ts";
import type { Stored } from "../kube/resource.ts";
import type { Action } from "../plan/action.ts";
import { chain, planCluster, planInPieces } from "../plan/chain.ts";
import { repairsIn } from "../plan/repairs.ts";
import {
  isLeftAlone,
  isProtectionOver,
  protectFromDeletion,
} from "../plan/removal/protect-from-deletion.ts";
import { isStopped } from "../plan/hibernation/hibernate.ts";
import { isSameJson } from "../plan/view/same-json.ts";
import { versionToAsk } from "../plan/view/version-to-ask.ts";
import { evidenceMsOf } from "../plan/safety/act-evidence.ts";
import type { Snapshot } from "../plan/snapshot.ts";
import { databaseStatus } from "../plan/snapshot.ts";
import { mayCreateUnseen } from "../plan/safety/unseen-creation.ts";
import { isAvailable } from "../model/availability.ts";
import { sourceOfDrill } from "./backup/observe.ts";
import type { ClusterState } from "./cluster-state.ts";
import { answerPerson } from "./coordination-requests.ts";
import { datedPlan, storedWaits } from "./dated-plan.ts";
import type { DatedClusterPlan } from "./dated-plan.ts";
import { gaveWay, InPieces, isLarge, othersTurn } from "./give-way.ts";
import { invalidStatus, problemText } from "./invalid-spec.ts";
import { overlappingOperator, standBack } from "./overlap.ts";
import type { OverlapPlace } from "./overlap.ts";
import { pausedStatus } from "./paused.ts";
import { missingTrust } from "../plan/certificates/operator-trust.ts";
import { freshEnough, observeCluster, operatorTrustOf } from "./observe.ts";
import { objectsOf } from "./own-objects.ts";
import { awaitedAfter, pollInterval } from "./poll-interval.ts";
import type { ActionOutcome } from "./perform.ts";
import { carryOut } from "./carry-out.ts";
import type { ReconcileOptions } from "./reconcile-options.ts";
import { afterConflict, repairConflicts, writeStatus } from "./write-status.ts";
import type { StatusWrite } from "./write-status.ts";
import { takeIn } from "./take-in.ts";
import { recordEvents, tellPlan } from "./tell-plan.ts";
import { statusEvents } from "./transition-events.ts";

const soonMs = 50;
/** After a pause for the others. */
const againMs = 1;
/** Protection that could not be written is tried again. */
const protectionMs = 10_000;
const staleMs = 250;
const [statusTakesMs, refusedMs] = [1_000, 1_000];
/** A plan that takes longer is cut, and its cluster rests: one cluster must not hold up all others. */
const planMaximumMs = 5_000;
const restMs = 30_000;
/** A database that is to be created is not asked for a status for so long: that would only hold it up. */
const quietMs = 30_000;
/** So long after the work the database is asked often, until it says that it is well. */
const healingMs = 300_000;

export async function reconcileCluster(
  options: ReconcileOptions,
  key: string,
  state: ClusterState,
): Promise<WorkOutcome> {
  // A status of a large database may just have been read in this turn.
  if (isLargeNow(options, key)) await othersTurn(options.clock);
  // No plan is made on a state that our own writes may have ended.
  const heldMs = await state.database.doubts.settle(options);
  if (heldMs > 0) return { againAfterMs: heldMs };
  const cluster = options.caches.clusters.get(parseKeyText(key));
  if (cluster === undefined || isLeftAlone(cluster)) return {};
  if (isProtectionOver(cluster)) return endProtection(options, key, state, cluster);
  if (cluster.spec.skip === true) {
    lookAway(state);
    return protectAnd(options, key, state, cluster, () => tellPaused(options, state, cluster));
  }
  const back = await standBack(options, placeOf(options, cluster, state));
  if (back !== undefined) {
    state.poller.follow(undefined);
    state.certificates.follow([]);
    return back;
  }
  const restLeftMs = state.restUntilMs - options.clock.nowMs();
  if (restLeftMs > 0) return { againAfterMs: restLeftMs };
  options.metrics.passBegan();
  follow(options, state, cluster);
  answerPerson(options, state, cluster);
  const problems = options.validate(cluster);
  if (problems.length > 0) {
    return protectAnd(options, key, state, cluster, () =>
      reportInvalid(options, key, state, cluster, problems),
    );
  }
  warnOfSpec(options, state, cluster);

  const { caches } = options;
  const [nowMs, pieces] = [options.clock.nowMs(), new InPieces(options)];
  takeIn({ cluster, caches, state, nowMs, serverAheadMs: options.serverClock.aheadMs });
  const snapshot = observeCluster({
    ...{ cluster, caches, state, nowMs },
    seed: randomInteger(options.random, 0, 2 ** 32 - 1),
    options: options.plan,
    checks: options.checks,
    serverAheadMs: options.serverClock.aheadMs,
    overlappingOperator: overlappingOperator(options, cluster.metadata),
  });
  if (isLarge(snapshot)) await pieces.pauseIfDue();
  if (isLarge(snapshot) && (await gaveWay(options, snapshot))) return { againAfterMs: againMs };
  state.sidecars.keepOnly(snapshot);
  const isTimeUp = (): boolean => pieces.workedMs > planMaximumMs;
  const planned = isLarge(snapshot)
    ? await pieces.run(planInPieces(snapshot, chain, isTimeUp))
    : planCluster(snapshot, chain, isTimeUp);
  if (isTimeUp()) state.restUntilMs = options.clock.nowMs() + restMs;
  options.metrics.observed(key, snapshot.database);
  const plan = datedPlan(planned, state.waits ?? storedWaits(cluster.status), nowMs);
  options.metrics.planned(plan);
  state.waits = plan.waits;
  state.facts = plan.facts;
  tellPlan(options, key, plan, nowMs);
  const written = await writeStatus(options, state, cluster, plan.status);
  if (written === "conflict") return repairOnly(options, key, state, cluster, plan);
  state.madeConnectionString = plan.madeConnectionString ?? state.madeConnectionString;
  state.zoneAttempt = plan.zoneAttempt;
  // What was observed or decided is told only when it is stored, so that a lost race tells nothing twice.
  recordEvents(options, state, cluster, plan);
  if (plan.isReconciled) noteReconciled(options, cluster, plan);
  const outcomes = await carryOut(options, key, state, cluster, plan.actions, servedMs(snapshot));
  const nextStatusMs = prepareNext(options, state, plan);
  options.metrics.passEnded(options.clock.nowMs() - nowMs);
  return { againAfterMs: againAfter(options, state, plan, outcomes, written, nextStatusMs) };
}

function isLargeNow({ caches }: ReconcileOptions, key: string): boolean {
  const cluster = caches.clusters.get(parseKeyText(key));
  return cluster !== undefined && isLarge({ cluster });
}

function placeOf(
  { caches }: ReconcileOptions,
  object: Stored<FoundationDBCluster>,
  state: ClusterState,
): OverlapPlace<Stored<FoundationDBCluster>> {
  const cluster = sourceOfDrill(caches, object);
  return { resource: foundationDbClusters, cache: caches.clusters, object, cluster, state };
}

/** Who looks again knows no more of the time between than a successor would. [S168] */
function lookAway(state: ClusterState): void {
  state.poller.follow(undefined);
  state.certificates.follow([]);
  state.statuses.lookAway();
  state.madeConnectionString = undefined;
}

/** Somebody deleted the cluster and does not want it kept: it goes, and nothing else is done for it. */
async function endProtection(
  options: ReconcileOptions,
  key: string,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
): Promise<WorkOutcome> {
  state.poller.follow(undefined);
  const action: Action = { type: "setFinalizer", step: "protectFromDeletion", isPresent: false };
  const outcomes = await carryOut(options, key, state, cluster, [action]);
  return outcomes.every(({ kind }) => kind === "done") ? {} : { againAfterMs: staleMs };
}

/** Protection from deletion follows its annotation also where nothing else is done, which is told all the same. */
async function protectAnd(
  options: ReconcileOptions,
  key: string,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
  report: () => Promise<WorkOutcome>,
): Promise<WorkOutcome> {
  const { actions = [] } = protectFromDeletion({ cluster });
  if (actions.length === 0) return report();
  const outcomes = await carryOut(options, key, state, cluster, actions);
  if (outcomes.some(({ kind }) => kind === "done")) return { againAfterMs: soonMs };
  const { againAfterMs = Infinity } = await report();
  return { againAfterMs: Math.min(againAfterMs, protectionMs) };
}

/** The database behind the stored connection string is watched, with a client of the version that runs. */
function follow(
  options: ReconcileOptions,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
): void {
  const connectionString = cluster.status?.connectionString ?? "";
  const pods = objectsOf(options.caches.pods, cluster, state.memory);
  const isAsleep = isStopped({ cluster, pods, memory: state.memory });
  if (connectionString === "" || isAsleep) return state.poller.follow(undefined);
  const { namespace = "", name = "" } = cluster.metadata;
  state.poller.setHurry(cluster.status?.configured === true);
  const { madeConnectionString, database } = state;
  const isToBeCreated =
    madeConnectionString === connectionString &&
    mayCreateUnseen({
      ...{ cluster, madeConnectionString, lastDatabaseWriteMs: database.lastWriteMs },
      database: state.poller.latest,
      pvcs: objectsOf(options.caches.pvcs, cluster, state.memory),
    });
  const { target: asked, latest } = state.poller;
  const version = versionToAsk(
    { cluster, pods, memory: state.memory },
    asked && { version: asked.version, latest },
  );
  // Authorities that are missing are no reason to trust others meanwhile.
  const trusted = operatorTrustOf(options.caches, cluster);
  const isTrustMissing = cluster.spec.operatorTrust !== undefined && trusted === undefined;
  const before = state.poller.target;
  if (isTrustMissing && before === undefined) {
    return state.poller.distrust(
      `${missingTrust(cluster)}: the operator asks the database nothing until it knows whom to trust`,
    );
  }
  const authorities = isTrustMissing ? before?.authorities : trusted;
  const target = { name: `${namespace}/${name}`, connectionString, version, authorities };
  state.poller.follow(target, isToBeCreated ? quietMs : 0);
}

/** Once for each generation: what the resource asks for, is valid, and is worth a thought. */
function warnOfSpec(
  options: ReconcileOptions,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
): void {
  if (state.warnedGeneration === cluster.metadata.generation) return;
  state.warnedGeneration = cluster.metadata.generation;
  for (const { field, message } of clusterWarnings(cluster)) {
    options.recorder.record(cluster, "Warning", "SpecWarning", `${field}: ${message}`);
  }
}

/** While the status cannot be written, nothing is decided; but what is stored as decided is kept. */
async function repairOnly(
  options: ReconcileOptions,
  key: string,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
  plan: DatedClusterPlan,
): Promise<WorkOutcome> {
  const stored = options.caches.clusters.get(parseKeyText(key));
  const isSame = stored?.metadata.uid === cluster.metadata.uid;
  if (
    stored !== undefined &&
    isSame &&
    !isLeftAlone(stored) &&
    state.conflicts >= repairConflicts
  ) {
    const repairs = repairsIn(plan.actions, stored.status);
    await carryOut(options, key, state, cluster, repairs, 0);
  }
  return afterConflict(options, state);
}

/** When the status was asked for on which the plan rests; 0 when there is none of a database that serves. */
function servedMs(snapshot: Snapshot): number {
  return isAvailable(databaseStatus(snapshot)) ? evidenceMsOf(snapshot) : 0;
}

/** Sets up what the next pass wants to know. Says when the next status is asked for, unless that is far away. */
function prepareNext(
  options: ReconcileOptions,
  state: ClusterState,
  plan: DatedClusterPlan,
): number | undefined {
  const isBusy = !plan.isReconciled || plan.waits.some((wait) => wait.isForDatabase === true);
  const nowMs = options.clock.nowMs();
  if (isBusy) state.quickUntilMs = nowMs + healingMs;
  else if (plan.status.health?.healthy && plan.status.health.fullReplication)
    state.quickUntilMs = 0;
  const isQuick = isBusy || nowMs < state.quickUntilMs;
  state.awaited = awaitedAfter(state.awaited, plan, nowMs);
  const quickMs = isBusy
    ? pollInterval(state.awaited, options.busyPollMs, nowMs)
    : options.busyPollMs;
  state.poller.setIntervalMs(isQuick ? quickMs : options.restPollMs);
  state.sidecars.ask(plan.questions);
  state.certificates.follow(plan.certificateTargets);
  state.reader.ask(plan.databaseQuestions);
  return isQuick && state.poller.target !== undefined ? quickMs : undefined;
}

/** At rest it is enough to notice that the database has fallen silent; events and its statuses come by themselves. */
function againAfter(
  options: ReconcileOptions,
  state: ClusterState,
  plan: DatedClusterPlan,
  outcomes: readonly ActionOutcome[],
  written: StatusWrite,
  nextStatusMs: number | undefined,
): number {
  const nowMs = options.clock.nowMs();
  // What is awaited from the database is looked at when its next status comes: until then there is nothing new to see.
  const floorMs = nextStatusMs === undefined ? soonMs : nextStatusMs + statusTakesMs;
  const times: number[] = plan.waits.map((wait) => Math.max(floorMs, wait.retryAtMs - nowMs));
  times.push(options.plan.statusMaximumAgeMs);
  if (written === "decision" || outcomes.some((outcome) => outcome.kind === "done")) {
    times.push(soonMs);
  }
  if (outcomes.some((outcome) => outcome.kind === "stale")) times.push(staleMs);
  if (outcomes.some((outcome) => outcome.kind === "refused")) times.push(refusedMs);
  for (const { retryAtMs } of state.failures.values()) {
    // What may be tried again and is not under way is not wanted now, or waits for another command.
    times.push(retryAtMs > nowMs ? Math.max(soonMs, retryAtMs - nowMs) : refusedMs);
  }
  for (const { retryAtMs } of state.refusals.values()) {
    if (retryAtMs > nowMs) times.push(retryAtMs - nowMs);
  }
  if (written === "held") {
    times.push(Math.max(soonMs, state.statusDueMs - nowMs));
  }
  return leastOf(times);
}

function noteReconciled(
  options: ReconcileOptions,
  cluster: Stored<FoundationDBCluster>,
  plan: DatedClusterPlan,
): void {
  const generation = plan.status.generations?.reconciled;
  if (cluster.status?.generations?.reconciled === generation) return;
  options.log.info("reconciled", { cluster: keyText(keyOf(cluster)), generation });
}

/** A cluster that is left alone says so; everything else of its status stays as it was last known. */
async function tellPaused(
  options: ReconcileOptions,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
): Promise<WorkOutcome> {
  const status = pausedStatus(cluster, options.clock.nowMs());
  if (status === undefined) return {};
  const written = await writeStatus(options, state, cluster, status);
  if (written === "conflict") return afterConflict(options, state);
  const waitMs = state.statusDueMs - options.clock.nowMs();
  return written === "held" ? { againAfterMs: Math.max(soonMs, waitMs) } : {};
}

async function reportInvalid(
  options: ReconcileOptions,
  key: string,
  state: ClusterState,
  cluster: Stored<FoundationDBCluster>,
  problems: readonly ValidationProblem[],
): Promise<WorkOutcome> {
  const atMs = options.clock.nowMs();
  const database = freshEnough(state.poller.latest, { nowMs: atMs, options: options.plan });
  const status = invalidStatus(cluster, problems, atMs, database);
  state.poller.setIntervalMs(options.restPollMs);
  // A stored report means that an operator before this one has told of it already.
  const isStored = isSameJson(cluster.status, status);
  if (!isStored) {
    const written = await writeStatus(options, state, cluster, status);
    if (written === "conflict") return afterConflict(options, state);
    if (written === "held") return { againAfterMs: Math.max(soonMs, state.statusDueMs - atMs) };
    for (const { type, reason, message } of statusEvents(cluster.status, status, atMs)) {
      options.recorder.record(cluster, type, reason, message);
    }
  }
  if (state.reportedGeneration !== cluster.metadata.generation) {
    state.reportedGeneration = cluster.metadata.generation;
    options.metrics.specRefused();
    const text = problemText(problems);
    if (!isStored) options.recorder.record(cluster, "Warning", "ClusterSpec not valid", text);
    options.log.warn("spec not valid", { cluster: key, problems: text });
    const texts = problems.map((problem) => `${problem.field}: ${problem.message}`);
    options.onActivity({ type: "invalid", cluster: key, atMs, problems: texts });
  }
  return {};
}
