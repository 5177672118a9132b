// Step updateDatabaseConfiguration: creates the database and keeps its configuration as the resource wants it,
// one safe step at a time. Rules: spec/plan.md [P66]-[P74], [P102], [P106], [P115], spec/migration.md [MIG1],
// spec/adoption.md [ADO7], [ADO21].
import { isAvailable } from "../../model/availability.ts";
import { remedyOf } from "../reasons/registry.ts";
import { automationOf, locksOf } from "../../api/effective.ts";
import { nextConfiguration } from "../../model/configuration-staging.ts";
import { changesWiggleAlone, configureArguments } from "../../model/configure-command.ts";
import {
  costlySettings,
  isSameConfiguration,
  isSameRegions,
  liveConfiguration,
} from "../../model/database-configuration.ts";
import type { DatabaseConfiguration } from "../../model/database-configuration.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { conditionOf } from "../../model/process-group.ts";
import { hallsRemedy, leavingIds } from "../safety/hall-readiness.ts";
import { calmRemedy, sentence } from "../hold.ts";
import { elsewhereText, notReadyText, nothingFoundText } from "./data-elsewhere.ts";
import { coordinatorsRemedy } from "./lost-coordinators.ts";
import { claimWithOtherLayout, isNeverCreated } from "../safety/no-database.ts";
import { silenceOf, unavailabilityOf } from "../view/unavailability.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, StepResult } from "../step.ts";
import { mayCreateUnseen, unstartedGroups } from "../safety/unseen-creation.ts";
import type { WaitReason } from "../reasons/registry.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";
import { createHash } from "node:crypto";
import { redundancyOf } from "../../model/redundancy.ts";
import {
  generationsProblem,
  performanceProblem,
  recoveryProblem,
} from "../safety/common-checks.ts";

const step = "updateDatabaseConfiguration";

export function updateDatabaseConfiguration(snapshot: Snapshot, draft: Draft): StepResult {
  const { database, runningCommand } = snapshot;
  if (runningCommand !== undefined) {
    const message = `The database is asked to ${runningCommand}`;
    return waiting("CommandRunning", message, "Nothing: it answers within seconds.", 5_000);
  }
  if (mayCreateUnseen(snapshot)) return planUnseen(snapshot, draft);
  if (database.kind === "missing" && database.reason === "Asking") {
    const message = "The first status of the database is being read";
    const remedy = "Nothing: a database that has not been created answers after some seconds.";
    return waiting("DatabaseNotReady", message, remedy, 5_000);
  }
  if (database.kind === "missing") {
    const { reason, clause, remedy } = silenceOf(database);
    return waiting(reason, sentence(clause), remedy, 5_000);
  }
  // Our own last change is not in this status yet: nothing may be concluded from it.
  if (database.observedMs < snapshot.lastDatabaseWriteMs) {
    const message = "The status is older than the last change to the database";
    return waiting("StatusOutdated", message, "Nothing: a newer status is being read.", 1_000);
  }
  const { status, observedMs } = database;
  if (!draft.status.configured) return planFirst(snapshot, draft, status, observedMs);
  if (!isAvailable(status)) {
    const message = `The database is not available: ${unavailabilityOf(status)}`;
    return waiting(
      "DatabaseUnavailable",
      message,
      coordinatorsRemedy(snapshot, draft, status),
      2_000,
    );
  }
  // What differs may only be what could not be read; step updateStatus says so.
  if (status.unreadable !== undefined) return nothing;
  return planChange(snapshot, draft, status, observedMs);
}

/** Nobody has a database behind this connection string yet: it is created without asking for a status first. */
function planUnseen(snapshot: Snapshot, draft: Draft): StepResult {
  const late = unstartedGroups(snapshot, draft);
  if (late.length > 0) return missing(late);
  return configure(draft.desired.configuration, { isNew: true, needsLock: false, evidenceMs: 0 });
}

function missing(late: readonly string[]): StepResult {
  const message = `The database is created when all processes report; missing: ${nameList(late)}`;
  const remedy = "Look at the pods that do not run. After a while it is created without them.";
  return waiting("ProcessesMissing", message, remedy, 2_000);
}

function planFirst(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  evidenceMs: number,
): StepResult {
  const { spec } = snapshot.cluster;
  if (!isNeverCreated(status)) {
    const { message, remedy } = notReadyText(snapshot, draft, status, notReadyMessage(status));
    return waiting("DatabaseNotReady", message, remedy, 2_000);
  }
  if (spec.adopt !== undefined) {
    const { message, remedy } = nothingFoundText(snapshot, draft);
    return waiting("DatabaseNotReady", message, remedy, 15_000);
  }
  if (!automationOf(spec).configureDatabase) return disabled("created");
  if ((spec.seedConnectionString ?? "") !== "") {
    const message = "No database has been created behind spec.seedConnectionString";
    const remedy =
      "Create it with the resource whose connection string this is, or remove the seed.";
    return waiting("DatabaseNotReady", message, remedy, 15_000);
  }
  const claim = claimWithOtherLayout(snapshot, draft.groups);
  if (claim !== undefined) {
    const message = `No database is created: ${elsewhereText(claim)}`;
    const remedy = `To bring that data back, set spec.adopt, and spec.imageType, spec.storageServersPerPod and spec.logServersPerPod as they were when it was written. Only when there is nothing to bring back, take that annotation away from all claims to create a new database.`;
    return waiting("DatabaseNotReady", message, remedy, 15_000);
  }
  const late = lateProcesses(snapshot, draft);
  if (late.length > 0) return missing(late);
  const mode = draft.desired.configuration.redundancy_mode ?? "";
  const problem = snapshot.checks.halls(status, mode, leavingIds(draft.groups));
  if (problem !== undefined) {
    return unsafe(problem, hallsRemedy(spec, draft.desired.counts));
  }
  return configure(draft.desired.configuration, { isNew: true, needsLock: false, evidenceMs });
}

function notReadyMessage(status: DatabaseStatus): string {
  if (status.client?.coordinators?.quorum_reachable !== true) {
    return `The database is not available yet: ${unavailabilityOf(status)}`;
  }
  const recovery = status.cluster?.recovery_state;
  return recovery === undefined
    ? "The database does not tell its state yet"
    : `The database is not available yet: ${recovery.name}`;
}

/**
 * Process groups whose processes are not up, while it is still worth waiting for them. A status of a database that does
 * not exist takes many seconds, so a pod that runs with the right configuration counts as up before a status shows it.
 */
function lateProcesses(snapshot: Snapshot, draft: Draft): string[] {
  const unstarted = new Set(unstartedGroups(snapshot, draft));
  return draft.groups.flatMap((group) => {
    const sinceSeconds = conditionOf(group, "MissingProcesses")?.timestamp;
    if (sinceSeconds === undefined || !unstarted.has(group.processGroupID)) return [];
    const waitedMs = snapshot.nowMs - sinceSeconds * 1000;
    return waitedMs < snapshot.options.firstConfigureWaitMs ? [group.processGroupID] : [];
  });
}

function planChange(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  evidenceMs: number,
): StepResult {
  const { spec } = snapshot.cluster;
  const live = liveOf(status, snapshot);
  if (live === undefined) {
    const message = "The database does not show its configuration";
    return waiting("DatabaseNotReady", message, remedyOf("DatabaseUnreachable"), 5_000);
  }
  const final = draft.desired.configuration;
  if (isSameConfiguration(live, final)) {
    return { status: { databaseConfigurationHash: snapshot.memory.once(hashOf, final) } };
  }
  if (!automationOf(spec).configureDatabase) return disabled("changed");
  if (isForeignChange(snapshot, draft, live)) return conflict(live, draft.desired.configuration);
  const { wanted, waits: kept } = withPossibleEngine(status, live, final);
  if (isSameConfiguration(live, wanted)) return { waits: kept };
  const next = nextConfiguration(live, wanted);
  const version = draft.status.runningVersion ?? "";
  const text = configureArguments(next);
  // Whoever pauses the wiggle may do so because the database is not well.
  const isFree = text.ok && changesWiggleAlone(live, text.value);
  const danger = isFree
    ? undefined
    : configurationDanger(snapshot, status, version, next.redundancy_mode);
  if (danger !== undefined) return unsafe(danger, calmRemedy);
  const mode = modeChange(live, next);
  const lack = snapshot.checks.halls(status, mode);
  if (lack !== undefined) return unsafe(lack, hallsRemedy(spec, draft.desired.counts));
  const needsLock = locksOf(spec).isEnabled;
  const command = configure(next, { isNew: false, needsLock, evidenceMs });
  // Stored before the command is given: whoever finds another configuration after a crash then knows that it may be its own.
  const result = { ...command, status: { databaseConfigurationHash: undefined } };
  if (isSameConfiguration(next, wanted)) return { ...result, waits: kept };
  const message = "The database reaches the wanted regions in several steps";
  const staged = newWait("ConfigurationStaged", message, remedyOf("ConfigurationStaged"), 5_000);
  return { ...result, waits: [staged, ...kept] };
}

/** FoundationDB refuses a whole change for an engine that may not change, so everything else is asked for without it. */
function withPossibleEngine(
  status: DatabaseStatus,
  live: DatabaseConfiguration,
  final: DatabaseConfiguration,
): { wanted: DatabaseConfiguration; waits: readonly NewWait[] } {
  const inForce = status.cluster?.configuration?.storage_migration_type;
  const type = final.storage_migration_type ?? inForce;
  const { storage_engine: engine } = live;
  if (final.storage_engine === engine || type !== "disabled") return { wanted: final, waits: [] };
  const message = `The storage engine stays ${engine}, not ${final.storage_engine}: storage_migration_type is disabled`;
  const wait = newWait(
    "StorageMigrationDisabled",
    message,
    remedyOf("StorageMigrationDisabled"),
    60_000,
  );
  return { wanted: { ...final, storage_engine: engine }, waits: [wait] };
}

export function liveOf(
  status: DatabaseStatus,
  snapshot: Snapshot,
): DatabaseConfiguration | undefined {
  const live = status.cluster?.configuration;
  if (live === undefined) return undefined;
  return liveConfiguration(live, snapshot.cluster.spec.databaseConfiguration ?? {});
}

/** The mode to be checked for halls: only a change of mode asks the question. */
function modeChange(live: DatabaseConfiguration, next: DatabaseConfiguration): string {
  return live.redundancy_mode === next.redundancy_mode ? "" : (next.redundancy_mode ?? "");
}

/**
 * Several resources can share a database. One that was satisfied and did not change since does not undo what
 * another one set: it reports the difference.
 */
function isForeignChange(snapshot: Snapshot, draft: Draft, live: DatabaseConfiguration): boolean {
  if (!locksOf(snapshot.cluster.spec).isEnabled) return false;
  const final = draft.desired.configuration;
  return (
    isCostly(live, final) &&
    draft.status.databaseConfigurationHash === snapshot.memory.once(hashOf, final)
  );
}

function isCostly(live: DatabaseConfiguration, final: DatabaseConfiguration): boolean {
  return (
    costlySettings.some((name) => live[name] !== final[name]) ||
    !isSameRegions(live.regions, final.regions)
  );
}

function conflict(live: DatabaseConfiguration, final: DatabaseConfiguration): StepResult {
  const engines = costlySettings.slice(2).filter((name) => live[name] !== final[name]);
  const others = engines.map((name) => `, ${name} ${live[name] ?? "unknown"}`).join("");
  const message =
    `Another instance set redundancy mode ${live.redundancy_mode ?? "unknown"} and ` +
    `${live.usable_regions ?? 1} usable regions${others}; this resource wants something else`;
  return waiting("ConfigurationConflict", message, remedyOf("ConfigurationConflict"), 30_000);
}

function configure(
  configuration: DatabaseConfiguration,
  how: { isNew: boolean; needsLock: boolean; evidenceMs: number },
): StepResult {
  const text = configureArguments(configuration);
  if (!text.ok) {
    const remedy = "Correct spec.databaseConfiguration.";
    return waiting("ConfigurationUnsafe", text.error, remedy, 60_000);
  }
  const command = how.isNew ? `new ${text.value}` : text.value;
  const message = `Setting database configuration to \`${text.value}\``;
  return {
    actions: [{ type: "configureDatabase", step, arguments: command, ...how }],
    events: [{ type: "Normal", reason: "ConfiguringDatabase", message }],
  };
}

function unsafe(danger: string, remedy: string): StepResult {
  const message = `The configuration has to change, but not yet: ${danger}`;
  const event = { type: "Normal", reason: "NeedsConfigurationChange", message } as const;
  return { waits: [{ ...newWait("ConfigurationUnsafe", danger, remedy, 5_000), event }] };
}

function disabled(what: string): StepResult {
  const message = `The database has to be ${what}, but automationOptions.configureDatabase is off`;
  return waiting("ConfigureDisabled", message, remedyOf("ConfigureDisabled"), 60_000);
}

function waiting(
  reason: WaitReason,
  message: string,
  remedy: string,
  retryAfterMs: number,
): StepResult {
  return { ...nothing, waits: [newWait(reason, message, remedy, retryAfterMs)] };
}

function newWait(
  reason: WaitReason,
  message: string,
  remedy: string,
  retryAfterMs: number,
): NewWait {
  return { step, reason, message, remedy, retryAfterMs, isForDatabase: true };
}

// A short fingerprint of a wanted database configuration, kept in the status.
/** Equal for equal configurations, whatever the order of their fields. */
export function hashOf(configuration: DatabaseConfiguration): string {
  const sorted = Object.entries(configuration).sort(([left], [right]) => (left < right ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}

// Whether the database is calm enough for a change of its configuration.
// Rules: spec/plan.md [P70], spec/safety.md [S87].
/** The first reason against it, as a sentence without numbers that change by themselves; undefined when there is none. */
export function configurationDanger(
  snapshot: Snapshot,
  status: DatabaseStatus,
  runningVersion: string,
  nextMode: string | undefined,
): string | undefined {
  const { configurationMinimumUptimeSeconds: minimum } = snapshot.options;
  const danger =
    generationsProblem(status) ??
    dataProblem(status, nextMode) ??
    recoveryProblem(status, minimum, runningVersion) ??
    performanceProblem(status);
  return danger === undefined ? undefined : danger.charAt(0).toUpperCase() + danger.slice(1);
}

/** Without a hall or datacenter data is not healthy, and the fallback of the mode is the way to make it so. */
function dataProblem(status: DatabaseStatus, nextMode: string | undefined): string | undefined {
  const { data, configuration, messages = [] } = status.cluster ?? {};
  if (messages.some((message) => message.name === "unreadable_configuration")) {
    return "the database cannot read its own configuration";
  }
  const { fullMode } = redundancyOf(nextMode);
  const isFallback = fullMode !== undefined && fullMode === configuration?.redundancy_mode;
  if (isFallback || data?.state?.healthy === true) return undefined;
  return `the data is not healthy: ${data?.state?.name ?? "its state is unknown"}`;
}
