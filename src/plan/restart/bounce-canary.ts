// The process group that is restarted with a new command line before all others, and what is said while it proves it.
// Rules: spec/restart.md [T110]-[T116].
import { remedyOf } from "../reasons/registry.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { processSettingsOf } from "../../api/effective.ts";
import { leastOf } from "../../env/long-lists.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { processesByInstance } from "../../model/locality.ts";
import { isStateful, isTest } from "../../model/process-class.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { conditionOf, hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import type { BounceTarget, BounceTargets } from "./bounce-targets.ts";
import { judgeCanary } from "../pods/canary.ts";
import type { CanaryMember, CanaryVerdict } from "../pods/canary.ts";
import { calmRemedy, hold } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { substitutionsOf } from "../view/pod-configuration.ts";
import { shapeOfPod } from "../view/pod-shape.ts";
import { nodeTrouble } from "../view/node-trouble.ts";
import type { DisruptionBudget } from "../safety/budget.ts";
import { isCoordinator } from "../safety/coordinators.ts";
import { toldMs } from "../view/server-time.ts";
import { isGlobal } from "../view/shared-sets.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { isConvertingTls } from "../view/tls-switch.ts";
import { nameList } from "../wait.ts";
import { viewOf } from "../view/cluster-view.ts";

/** A process that ends at its start does not get so old; one that restarts is back by then. */
const times = { provenMs: 10_000, patienceMs: 120_000 };

export interface BounceCanary {
  readonly verdict: CanaryVerdict;
  /** Process groups that were restarted for a proof: they say nothing about how long everything has been running. */
  readonly provers: ReadonlySet<string>;
}

const downRemedy =
  "Nothing, when what is down comes back by itself; otherwise bring it back, or take its fence away.";

const none: BounceCanary = { verdict: { kind: "go" }, provers: new Set() };

export function bounceCanary(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  targets: BounceTargets,
): BounceCanary {
  if (targets.groups.length === 0 || isForAllTogether(snapshot, draft, targets)) return none;
  const members = membersOf(snapshot, draft, status, targets);
  const verdict = judgeCanary(members, times);
  // A mode that never can lose anybody would wait for ever.
  const { faultTolerance } = redundancyOf(status.cluster?.configuration?.redundancy_mode);
  const isNever = verdict.kind === "later" && faultTolerance === 0;
  return { verdict: isNever ? { kind: "go" } : verdict, provers: proversOf(members) };
}

/** What one process cannot try alone, and restarts of several instances, which are one kill for all. */
function isForAllTogether(snapshot: Snapshot, draft: Draft, targets: BounceTargets): boolean {
  if (isGlobal(snapshot, draft.status)) return true;
  if (snapshot.cluster.spec.buggify?.emptyMonitorConf === true) return true;
  // A listener more or less needs no proof; a custom parameter that comes with it does.
  return isSwitchingTls(draft, targets) && !hasNewParameters(snapshot, draft, targets);
}

function isSwitchingTls(draft: Draft, { groups }: BounceTargets): boolean {
  if (isConvertingTls(draft)) return true;
  // They still listen in both ways: a switch between TLS and plain comes to its end.
  return groups.some(({ processes }) =>
    processes.some(({ command_line: line = "" }) => /--public_address=[^ ]*,/.test(line)),
  );
}

function hasNewParameters(snapshot: Snapshot, draft: Draft, targets: BounceTargets): boolean {
  const ids = new Set(targets.groups.map(({ processGroupId }) => processGroupId));
  const groups = draft.groups.filter(({ processGroupID }) => ids.has(processGroupID));
  const settings = new Set(groups.map((group) => settingsOf(snapshot, group)));
  return [...settings].some((each) => newParameters(snapshot, draft, targets, each).length > 0);
}

function membersOf(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  targets: BounceTargets,
): CanaryMember[] {
  const old = new Map(targets.groups.map((target) => [target.processGroupId, target]));
  const stubborn = new Set(targets.stubborn);
  const processes = processesByInstance(snapshot, status);
  const began = beginnings(snapshot, draft, old);
  const budget = snapshot.checks.budget(snapshot);
  const members: CanaryMember[] = [];
  for (const group of draft.groups) {
    const processGroupId = group.processGroupID;
    const settings = settingsOf(snapshot, group);
    const beganMs = began.get(settings);
    if (beganMs === undefined || isTest(group.processClass)) continue;
    // It is away because somebody wants it to be, and proves nothing.
    if (hasCondition(group, "Fenced")) continue;
    const target = old.get(processGroupId);
    const base = { processGroupId, settings };
    if (target !== undefined) {
      const isServing = isCoordinator(snapshot, status, group);
      const cost = costOf(group, target, budget, isServing);
      members.push({ ...base, state: "old", forMs: 0, cost });
    } else if (stubborn.has(processGroupId)) {
      // It runs with what it was given; only its command line reads otherwise.
      members.push({ ...base, state: "new", forMs: Infinity });
    } else if (hasCondition(group, "MissingProcesses")) {
      const forMs = awayMs(snapshot, group, beganMs);
      if (forMs !== undefined) members.push({ ...base, state: "away", forMs });
    } else {
      const forMs = provenMs(snapshot, draft, group, processes.get(processGroupId) ?? []);
      if (forMs !== undefined) members.push({ ...base, state: "new", forMs });
    }
  }
  return members;
}

function settingsOf({ cluster }: Snapshot, { processClass }: ProcessGroup): string {
  return JSON.stringify(processSettingsOf(cluster.spec, processClass).customParameters ?? []);
}

/** When the first command line of each setting was found wrong. */
function beginnings(
  snapshot: Snapshot,
  draft: Draft,
  old: ReadonlyMap<string, BounceTarget>,
): ReadonlyMap<string, number> {
  const began = new Map<string, number>();
  for (const group of draft.groups) {
    if (!old.has(group.processGroupID)) continue;
    const settings = settingsOf(snapshot, group);
    const sinceSeconds = conditionOf(group, "IncorrectCommandLine")?.timestamp;
    if (sinceSeconds === undefined) continue;
    began.set(settings, Math.min(began.get(settings) ?? Infinity, sinceSeconds * 1000));
  }
  return began;
}

/** One that leaves goes first only when all of them leave: it costs more than any other. */
function costOf(
  group: ProcessGroup,
  target: BounceTarget,
  budget: DisruptionBudget,
  isServing: boolean,
): CanaryMember["cost"] {
  if (target.processes.some(({ excluded }) => excluded === true)) return undefined;
  const cost = costOfRestart(group, target, budget, isServing);
  if (cost === undefined) return "later";
  return isMarkedForRemoval(group) ? cost + 10 : cost;
}

/**
 * Without any role it costs nothing; a storage server alone costs no recovery. Any other role costs one, and a coordinator
 * comes last: that is still better than a bad command line for everybody. While something is down, nobody with data can
 * be missed: undefined.
 */
function costOfRestart(
  { processClass }: ProcessGroup,
  { processes }: BounceTarget,
  { zonesAllowed, tolerance }: DisruptionBudget,
  isServing: boolean,
): number | undefined {
  if (processes.some(({ roles }) => roles === undefined)) return undefined;
  if (isServing) return zonesAllowed > 0 ? 5 : undefined;
  const roles = processes.flatMap((process) => process.roles ?? []);
  if (roles.length === 0) return isStateful(processClass) ? 1 : 0;
  if (zonesAllowed > 0 && roles.every(({ role }) => role === "storage")) return 2;
  if (!isStateful(processClass)) return tolerance > 0 ? 3 : undefined;
  return zonesAllowed > 0 ? 4 : undefined;
}

/**
 * How long a process that must have been started with the new setting has been missing. One that was missing before, or
 * that has lost its node, says nothing.
 */
function awayMs(snapshot: Snapshot, group: ProcessGroup, beganMs: number): number | undefined {
  const sinceMs = (conditionOf(group, "MissingProcesses")?.timestamp ?? 0) * 1000;
  const own = viewOf(snapshot).of(group);
  const { pod } = own;
  if (sinceMs < beganMs || pod?.status?.phase !== "Running") return undefined;
  if (pod.metadata.deletionTimestamp !== undefined) return undefined;
  if (nodeTrouble(snapshot, own) !== undefined) return undefined;
  if (hasCondition(group, "IncorrectConfigMap")) return undefined;
  const told = toldMs(snapshot, pod.metadata.annotations?.[annotationKeys.outdatedConfigMapSeen]);
  return snapshot.nowMs - Math.max(sinceMs, told);
}

/**
 * For how long all processes of the group have been running with the wanted command line; undefined when they do not, or
 * nobody can tell. Conditions do not: those of a group that is excluded are not kept.
 */
function provenMs(
  snapshot: Snapshot,
  draft: Draft,
  group: ProcessGroup,
  processes: readonly StatusProcess[],
): number | undefined {
  const pod = viewOf(snapshot).of(group).pod;
  const values = pod && substitutionsOf(snapshot, pod).values;
  if (pod === undefined || values === undefined || processes.length === 0) return undefined;
  const wanted = new Set<string>();
  for (let number = 1; number <= shapeOfPod(snapshot, pod).servers; number += 1) {
    wanted.add(draft.desired.commandLine(group, pod, number, values));
  }
  if (processes.some(({ command_line: line = "" }) => !wanted.has(line))) return undefined;
  return leastOf(processes.map(({ uptime_seconds: uptime }) => uptime ?? 0)) * 1000;
}

/** The youngest one of each setting. */
function proversOf(members: readonly CanaryMember[]): ReadonlySet<string> {
  const youngest = new Map<string, CanaryMember>();
  for (const member of members) {
    if (member.state !== "new") continue;
    const known = youngest.get(member.settings);
    if (known === undefined || member.forMs < known.forMs) youngest.set(member.settings, member);
  }
  return new Set([...youngest.values()].map(({ processGroupId }) => processGroupId));
}

/** What the others wait for; undefined when they, or the first one, may be restarted. */
export function canaryHold(
  snapshot: Snapshot,
  draft: Draft,
  targets: BounceTargets,
  verdict: CanaryVerdict,
): Hold | undefined {
  if (verdict.kind === "proving") {
    const message = `First ${nameList(verdict.processGroupIds)} proves the new command line, alone`;
    return hold("CanaryProving", message, remedyOf("CanaryProving"), 2_000);
  }
  if (verdict.kind === "later") {
    const { reason, downZones } = snapshot.checks.budget(snapshot);
    const message = `One of them has to prove the new command line alone, and none can be missed now: ${reason}`;
    const remedy = downZones.size === 0 ? calmRemedy : downRemedy;
    return hold("RestartHeld", message, remedy, 5_000);
  }
  return verdict.kind === "failed" ? failedHold(snapshot, draft, targets, verdict) : undefined;
}

function failedHold(
  snapshot: Snapshot,
  draft: Draft,
  targets: BounceTargets,
  { processGroupIds, settings }: CanaryVerdict & { kind: "failed" },
): Hold {
  const failed = draft.groups.filter((group) => processGroupIds.includes(group.processGroupID));
  const [first] = failed;
  const names = failed.map((group) => viewOf(snapshot).of(group).podName);
  const added = newParameters(snapshot, draft, targets, settings);
  const own = first && snapshot.cluster.spec.processes?.[first.processClass]?.customParameters;
  const field = `spec.processes.${own === undefined ? "general" : first?.processClass}.customParameters`;
  const what = added.length === 0 ? "the new command line" : `${nameList(added)} (${field})`;
  const message =
    `${nameList(processGroupIds)} started with ${what} before all others, and does not report to the database: ` +
    "its pod runs, so fdbserver ends at its start or cannot reach the others. Nothing else is restarted";
  const remedy =
    `Look why it ends (kubectl logs ${names[0] ?? ""} -c foundationdb). Correct ${added.length === 0 ? "the setting" : field}, ` +
    "or take it back: then the process starts again by itself, or is replaced where its cluster file leads nowhere by then.";
  return hold("CanaryFailed", message, remedy, 15_000);
}

/** Custom parameters that no process has which runs with the old command line. */
function newParameters(
  snapshot: Snapshot,
  draft: Draft,
  targets: BounceTargets,
  settings: string,
): string[] {
  const ids = new Set(
    draft.groups
      .filter((group) => settingsOf(snapshot, group) === settings)
      .map((group) => group.processGroupID),
  );
  const lines = targets.groups
    .filter(({ processGroupId }) => ids.has(processGroupId))
    .flatMap(({ processes }) => processes.map(({ command_line: line = "" }) => `${line} `));
  // The value of a variable differs from pod to pod.
  return (JSON.parse(settings) as string[]).filter(
    (parameter) =>
      !parameter.includes("$") && !lines.some((line) => line.includes(` --${parameter} `)),
  );
}
