// Step updateStatus, the last of the chain: the status as it will be written, with everything that the steps decided
// and the reasons why the cluster is not finished. Rules: spec/plan.md [P35]-[P39], [P75], [P84]-[P88].
import { routingOf } from "../../api/effective.ts";
import type { ClusterStatus } from "../../api/cluster.ts";
import { adviceFor } from "../advice/advice.ts";
import { actionKey } from "../action-key.ts";
import { lostConnectionString } from "../config-map/lost-connection-string.ts";
import { problemOfCoordinators } from "../coordinators/change-coordinators.ts";
import { sharingWarnings } from "../coordinators/coordinator-hosts.ts";
import { certificateFindings } from "../certificates/certificate-findings.ts";
import type { CertificateTarget } from "../certificates/certificate-targets.ts";
import { trustWarnings } from "../certificates/operator-trust.ts";
import { diskWaits } from "./disk-space.ts";
import { failureWaits } from "./failure-waits.ts";
import { drainReasons } from "../reasons/drains.ts";
import { hallWarnings } from "./hall-warnings.ts";
import type { PlanWarning } from "../step.ts";
import { impairmentWaits } from "./impaired-processes.ts";
import { movedCoordinators } from "../coordinators/moved-coordinators.ts";
import { overlapWarnings } from "../overlap/overlap-warning.ts";
import { engineView } from "../../model/storage-engines.ts";
import { podWaits } from "../pods/pod-waits.ts";
import { judgeReconciliation } from "./reconciliation.ts";
import { databaseStatus, isStatusPending } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { asleepConditions, asleepFields, isWaking } from "./asleep-status.ts";
import { withHeldRemedy } from "../hibernation/held-remedy.ts";
import { isStopped } from "../hibernation/hibernate.ts";
import { datedConditions, deletionHeld, statusConditions } from "./status-conditions.ts";
import type { Draft, StatusFields } from "../step.ts";
import { isEnding, stuckRemovals } from "../removal/stuck-removals.ts";
import { unreadableWaits, unreadableWarnings } from "./unreadable-status.ts";
import { isPartial } from "./update-status.ts";
import { isAvailable } from "../../model/availability.ts";
import { hasWrongDenyList } from "../locks/update-lock-configuration.ts";
import { isConfigMapCurrent } from "../config-map/update-config-map.ts";
import { wantedConfigMap } from "../config-map/wanted-config-map.ts";
import { withReplacements } from "../replacement/other-engine.ts";
import { migrationWaits } from "../configuration/storage-migration.ts";
import { liveOf } from "../configuration/update-database-configuration.ts";
import { upgradeVerdict } from "../upgrade/upgrade-verdict.ts";
import { observedSince } from "../facts.ts";
import type { NewWait } from "../wait.ts";
import { quarantineWarnings } from "../volumes/quarantine.ts";
import { volumeWaits } from "../volumes/volume-waits.ts";
import { windowWarnings } from "../coordination/shared-windows.ts";
import { causesFirst } from "../reasons/rank.ts";

export type PlannedStatus = Omit<ClusterStatus, "blockedBy">;

export interface Conclusion {
  status: PlannedStatus;
  waits: readonly NewWait[];
  isReconciled: boolean;
}

/** `told` is what the steps wait for, `targets` are those whose certificates are looked at. */
export function concludeStatus(
  snapshot: Snapshot,
  draft: Draft,
  told: readonly NewWait[],
  targets: readonly CertificateTarget[] = [],
): Conclusion {
  if (isStopped(snapshot)) return concludeAsleep(snapshot, draft, told);
  const { cluster } = snapshot;
  const database = databaseStatus(snapshot);
  const status: StatusFields = {
    ...draft.status,
    hasIncorrectConfigMap:
      snapshot.configMap === undefined ||
      !isConfigMapCurrent(snapshot.configMap, wantedConfigMap(snapshot, draft)),
    hasIncorrectServiceConfig:
      snapshot.services.has(cluster.metadata.name ?? "") !==
      routingOf(cluster.spec).needsHeadlessService,
    needsNewCoordinators: needsCoordinators(snapshot, draft),
  };
  const volumes = volumeWaits(snapshot, draft.groups);
  const unreadable = unreadableWaits(snapshot);
  const { isReconciled, ...counts } = judgeReconciliation({
    cluster,
    status,
    groups: draft.groups,
    counts: draft.desired.counts,
    live: !isPartial(database) && isAvailable(database) ? liveOf(database, snapshot) : undefined,
    desired: draft.desired.configuration,
    isStatusPending: isStatusPending(snapshot) || isCommandUnseen(snapshot),
    hasWrongDenyList: hasWrongDenyList(snapshot, status),
    isVersionOpen: isVersionOpen(snapshot, draft),
    hasActions: volumes.length > 0 || unreadable.length > 0 || isWorkLeft(snapshot, draft),
  });
  const waits = isReconciled ? [] : allWaits(snapshot, draft, [...volumes, ...unreadable], told);
  // What was refused or failed before is tried again, but it changes nothing while it does not succeed.
  const futile = new Set([...snapshot.refusals, ...snapshot.failures].map(({ key }) => key));
  const { certificates, judgements } = certificateFindings(snapshot, targets);
  const conditions = statusConditions({
    ...{ snapshot, certificates: judgements },
    status,
    groups: draft.groups,
    waits,
    isReconciled,
    volumes,
    isWaking: isWaking(draft, snapshot.nowMs),
    lost: lostConnectionString(snapshot, draft.facts),
    // Who drains a node should read why it waits, also when the cluster itself has nothing to do.
    warnings: [
      ...warningsOf(snapshot, draft),
      ...(isReconciled ? told.filter(({ reason }) => Object.hasOwn(drainReasons, reason)) : []),
    ],
    actionCount: draft.actions.filter((action) => !futile.has(actionKey(action))).length,
  });
  return {
    waits,
    isReconciled,
    status: {
      ...status,
      ...counts,
      conditions,
      ...{ certificates, advice: adviceFor(snapshot, draft) },
      ...observedSince(draft.facts),
      processGroups: draft.groups,
    },
  };
}

/** Nobody is missed, and nothing is judged that only a database could show. */
function concludeAsleep(snapshot: Snapshot, draft: Draft, told: readonly NewWait[]): Conclusion {
  const { cluster, nowMs } = snapshot;
  const troubles = [...failureWaits(snapshot), ...refusalWaits(snapshot)];
  const waits = causesFirst([...troubles, ...volumeWaits(snapshot, draft.groups), ...told]);
  const isReconciled =
    waits.length === 0 &&
    draft.actions.length === 0 &&
    draft.status.hibernation?.generation === cluster.metadata.generation;
  const conditions = asleepConditions(snapshot, waits, isReconciled);
  return {
    waits,
    isReconciled,
    status: {
      ...draft.status,
      ...asleepFields(snapshot, draft, isReconciled),
      conditions: datedConditions(cluster, nowMs, { ...conditions, ...deletionHeld(cluster) }),
      processGroups: draft.groups,
    },
  };
}

/** What explains the others comes first. */
function allWaits(
  snapshot: Snapshot,
  draft: Draft,
  troubles: readonly NewWait[],
  told: readonly NewWait[],
): NewWait[] {
  const found = causesFirst([
    ...failureWaits(snapshot),
    ...refusalWaits(snapshot),
    ...troubles,
    ...movedCoordinators(snapshot, draft),
    ...told,
    ...podWaits(snapshot, draft),
    ...impairmentWaits(draft),
    ...engineWaits(snapshot, draft),
    ...diskWaits(snapshot),
  ]);
  return withHeldRemedy(found);
}

function engineWaits(snapshot: Snapshot, { status }: Draft): NewWait[] {
  const database = databaseStatus(snapshot);
  const view = database && snapshot.memory.once(engineView, database);
  const seen = view && withReplacements(snapshot, view);
  return migrationWaits(status.storageEngineMigration, database, seen, snapshot.nowMs);
}

function warningsOf(snapshot: Snapshot, draft: Draft): PlanWarning[] {
  return [
    ...overlapWarnings(snapshot),
    ...unreadableWarnings(snapshot),
    ...trustWarnings(snapshot),
    ...hallWarnings(snapshot, draft),
    ...sharingWarnings(snapshot.cluster.spec, databaseStatus(snapshot)),
    ...stuckRemovals(snapshot, draft),
    ...quarantineWarnings(snapshot),
    ...windowWarnings(snapshot, draft),
  ];
}

/** While the version of the resource is refused, everything is brought into order for the one that runs. */
function isVersionOpen(snapshot: Snapshot, { status }: Draft): boolean {
  const running = status.runningVersion ?? snapshot.cluster.spec.version;
  const { kind } = upgradeVerdict(snapshot, running);
  return kind === "refused" || kind === "uncertain";
}

function isWorkLeft(snapshot: Snapshot, draft: Draft): boolean {
  return (
    draft.actions.length > 0 ||
    draft.isUnfinished ||
    draft.isHeldByWindow ||
    isRemovalEnding(snapshot, draft) ||
    isActUnseen(snapshot)
  );
}

/** A process group that leaves stands in the list until the database has forgotten it: a matter of seconds. */
function isRemovalEnding(snapshot: Snapshot, draft: Draft): boolean {
  return draft.groups.some((group) => isEnding(snapshot, group));
}

/** Until a status shows the end of a restart, what it shows may be what was before. */
function isActUnseen({ ledger }: Snapshot): boolean {
  return ledger.some(({ type }) => type === "deletePods" || type === "killProcesses");
}

/** What a command of ours leads to shows only in a status that was asked for after it had ended. */
function isCommandUnseen({ runningCommand, database, lastDatabaseWriteMs }: Snapshot): boolean {
  if (runningCommand !== undefined) return true;
  return database.kind === "seen" && database.observedMs < lastDatabaseWriteMs;
}

/** Only a database that answers can tell; until then the last finding stands. Step changeCoordinators says why. */
function needsCoordinators(snapshot: Snapshot, draft: Draft): boolean {
  const database = databaseStatus(snapshot);
  const { connectionString = "", configured } = draft.status;
  if (!configured || connectionString === "") return false;
  if (isPartial(database) || !isAvailable(database)) {
    return draft.status.needsNewCoordinators === true;
  }
  return problemOfCoordinators(snapshot, draft) !== undefined;
}

/** What was decided and then refused at the door is a wait like any other. */
function refusalWaits(snapshot: Snapshot): NewWait[] {
  return snapshot.refusals.map(({ step, what, reason, message }) => ({
    step,
    reason,
    message: `Not now: ${what}. ${message.charAt(0).toUpperCase()}${message.slice(1)}`,
    retryAfterMs: 2_000,
    isForDatabase: true,
  }));
}
