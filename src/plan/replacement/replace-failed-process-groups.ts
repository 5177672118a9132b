// Step replaceFailedProcessGroups: a process group that has been failing for long is marked for removal, and its class
// gets a new one. Only a few at a time, and only on an available database: when much fails at once, the cause is
// elsewhere. Rules: spec/removal.md [R10]-[R19], spec/buckets.md [BKT8]-[BKT10], [BKT15]-[BKT18], spec/restart.md [T85],
// spec/packing.md [PACK48].
import { isAvailable } from "../../model/availability.ts";
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import type { ReplacementAutomation } from "../../api/effective-automation.ts";
import { formatTime } from "../../kube/time.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import {
  conditionOf,
  hasCondition,
  isMarkedForRemoval,
  markForRemoval,
  replacementConditions,
  skipExclusion,
} from "../../model/process-group.ts";
import { unreadableText } from "../../model/status-shape.ts";
import {
  exclusionsOf,
  isUnnameable,
  missingTargets,
  usesLocalities,
} from "../view/exclusion-targets.ts";
import { removalsThatGiveWay } from "./giving-way.ts";
import { ReplacementBudget, bucketField } from "./replacement-budget.ts";
import type { Bucket } from "./replacement-budget.ts";
import { returnsToDomain, waitsForHost } from "../placement/waiting-for-host.ts";
import { faultToleranceProblem } from "../safety/fault-tolerance.ts";
import { isClaimAbsent } from "../safety/volumes.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { nothing } from "../step.ts";
import type { Draft, PlanEvent, StepResult } from "../step.ts";
import { nameList } from "../wait.ts";
import type { NewWait } from "../wait.ts";

const step = "replaceFailedProcessGroups";

export function replaceFailedProcessGroups(snapshot: Snapshot, draft: Draft): StepResult {
  const { spec } = draft.desired.cluster;
  const { replacements } = automationOf(spec);
  if (!replacements.enabled) return nothing;
  if (spec.buggify?.emptyMonitorConf === true) return nothing;
  const status = databaseStatus(snapshot);
  const failed = failedGroups(snapshot, draft, replacements, status);
  if (failed.length === 0) return nothing;
  if (!isAvailable(status)) {
    return { waits: [postponed(failed, "the database is not available")] };
  }
  const unreadable = unreadableText(status);
  if (unreadable !== undefined) return { waits: [postponed(failed, unreadable)] };
  return mark(snapshot, draft, status, failed);
}

interface Failure {
  group: ProcessGroup;
  /** Since when, and what. */
  cause: string;
}

/** Replacements that find no place in their bucket. */
interface HeldBack {
  bucket: Bucket;
  failures: readonly Failure[];
}

function failedGroups(
  snapshot: Snapshot,
  draft: Draft,
  options: ReplacementAutomation,
  status: DatabaseStatus | undefined,
): Failure[] {
  const { spec } = draft.desired.cluster;
  const crashing = crashLoopTargets(spec);
  if (crashing.has("*")) return [];
  const maintenanceZone = status?.cluster?.maintenance_zone ?? "";
  const acceptsTaints = isTaintShareSmall(options, draft.groups);
  const found: Failure[] = [];
  for (const group of draft.groups) {
    if (isMarkedForRemoval(group) || crashing.has(group.processGroupID)) continue;
    if (hasCondition(group, "Fenced")) continue;
    const isMaintained =
      group.processClass === "storage" &&
      maintenanceZone !== "" &&
      group.faultDomain === maintenanceZone;
    if (isMaintained) continue;
    const cause = failureOf(snapshot, group, options, acceptsTaints);
    if (cause === undefined || isReplacedInVain(snapshot, draft, group)) continue;
    found.push({ group, cause });
  }
  return found;
}

/** Its successor would wait for the same host, and be one more that may still come up. */
function isReplacedInVain(snapshot: Snapshot, draft: Draft, group: ProcessGroup): boolean {
  return (
    waitsForHost(snapshot, draft.groups, group) &&
    returnsToDomain(draft.desired.cluster.spec, draft.groups, group)
  );
}

/** Process groups whose containers are told to crash, whichever container it is. */
function crashLoopTargets(spec: ClusterSpec): ReadonlySet<string> {
  const entries = spec.buggify?.crashLoopContainers ?? [];
  return new Set([
    ...(spec.buggify?.crashLoop ?? []),
    ...entries.flatMap((entry) => entry.targets ?? []),
  ]);
}

/** Nothing changes such a cluster file any more; but those whom it names may only be restarting. */
const clusterFileMs = 300_000;

/** The condition that has lasted long enough, as a sentence; undefined when none has. */
function failureOf(
  snapshot: Snapshot,
  group: ProcessGroup,
  options: ReplacementAutomation,
  acceptsTaints: boolean,
): string | undefined {
  const { nowMs } = snapshot;
  const limitSeconds = nowMs / 1000 - options.failureDetectionTimeSeconds;
  let oldest: { type: string; timestamp: number } | undefined;
  for (const type of replacementConditions) {
    if (type === "NodeTaintReplacing") continue;
    // Made from another specification, it is replaced for that, when its turn and its window have come.
    if (type === "MissingPVC" && !isClaimAbsent(snapshot, group)) continue;
    const timestamp = conditionOf(group, type)?.timestamp;
    if (timestamp === undefined || timestamp >= limitSeconds) continue;
    if (oldest === undefined || timestamp < oldest.timestamp) oldest = { type, timestamp };
  }
  if (oldest !== undefined) return causeText(oldest.type, oldest.timestamp);
  const misled = conditionOf(group, "ClusterFileOutdated")?.timestamp;
  if (misled !== undefined && nowMs - misled * 1000 >= clusterFileMs) {
    return causeText("ClusterFileOutdated", misled);
  }
  const tainted = conditionOf(group, "NodeTaintReplacing")?.timestamp;
  if (!acceptsTaints || tainted === undefined) return undefined;
  const taintLimitSeconds = nowMs / 1000 - options.taintReplacementTimeSeconds;
  return tainted < taintLimitSeconds ? causeText("NodeTaintReplacing", tainted) : undefined;
}

function causeText(type: string, timestamp: number): string {
  return `${type} since ${formatTime(timestamp * 1000)}`;
}

/** When much of the cluster sits on tainted nodes, the taint is no sign of single bad nodes. */
function isTaintShareSmall(
  options: ReplacementAutomation,
  groups: readonly ProcessGroup[],
): boolean {
  if (options.taintReplacementOptions.length === 0) return false;
  const domains = new Set<string>();
  const tainted = new Set<string>();
  for (const group of groups) {
    if ((group.faultDomain ?? "") === "") continue;
    domains.add(group.faultDomain ?? "");
    if (hasCondition(group, "NodeTaintReplacing")) tainted.add(group.faultDomain ?? "");
  }
  return tainted.size <= allowedDomains(options, domains.size);
}

function allowedDomains(options: ReplacementAutomation, domains: number): number {
  const limit = options.maxFaultDomainsWithTaintedProcessGroups;
  if (typeof limit === "number") return limit;
  const share = /^(\d+)%$/.exec(limit)?.[1];
  if (share === undefined) return Number(limit) || 1;
  return Math.max(1, Math.floor((domains * Number(share)) / 100));
}

function mark(
  snapshot: Snapshot,
  draft: Draft,
  status: DatabaseStatus,
  failed: readonly Failure[],
): StepResult {
  const { spec } = draft.desired.cluster;
  const byLocality = usesLocalities(spec, draft.status.runningVersion ?? "");
  const exclusions = exclusionsOf(snapshot, status);
  const givingWay = removalsThatGiveWay({
    view: snapshot,
    status,
    groups: draft.groups,
    counts: draft.desired.counts,
    redundancyMode: draft.desired.configuration.redundancy_mode,
    failed: new Set(failed.map(({ group }) => group.processGroupID)),
    isExcluded: (group) => missingTargets(exclusions, group, byLocality).length === 0,
    nowMs: snapshot.nowMs,
  });
  const options = automationOf(spec).replacements;
  const budget = new ReplacementBudget(options, draft.groups, givingWay);
  const marked = new Map<string, ProcessGroup>();
  const events: PlanEvent[] = [];
  const held = new Map<string, HeldBack>();
  const unsafe: Failure[] = [];
  for (const failure of failed) {
    const { group, cause } = failure;
    const skips = isUnnameable(group, byLocality);
    if (skips && toleranceProblem(status) !== undefined) {
      unsafe.push(failure);
      continue;
    }
    const full = budget.take(group);
    if (full !== undefined) {
      const failures = [...(held.get(full.name)?.failures ?? []), failure];
      held.set(full.name, { bucket: full, failures });
      continue;
    }
    const removed = markForRemoval(group, snapshot.nowMs);
    const id = group.processGroupID;
    marked.set(id, skips ? skipExclusion(removed, snapshot.nowMs) : removed);
    const addition = skips ? "; it never had an address, so it is not excluded" : "";
    const message = `Replacing ${id}: ${cause}${addition}`;
    events.push({ type: "Normal", reason: "ReplacingProcesses", message });
  }
  const waits: NewWait[] = [...held.values()].map((one) => limited(one, budget));
  if (unsafe.length > 0) waits.push(postponed(unsafe, toleranceProblem(status) ?? ""));
  const groups = draft.groups.map((group) => marked.get(group.processGroupID) ?? group);
  return { ...(marked.size === 0 ? {} : { groups }), events, waits };
}

function toleranceProblem(status: DatabaseStatus): string | undefined {
  return faultToleranceProblem(status, status.cluster?.configuration?.redundancy_mode);
}

function idsOf(failures: readonly Failure[]): string {
  return nameList(failures.map(({ group }) => group.processGroupID));
}

/** One wait for each full bucket: they empty independently of each other. */
function limited({ bucket, failures }: HeldBack, budget: ReplacementBudget): NewWait {
  const why = budget.limitText(bucket);
  return {
    step,
    reason: "ReplacementLimited",
    object: `replacement-bucket/${bucket.name}`,
    message: `${idsOf(failures)} should be replaced (${failures[0]?.cause}), but ${why}`,
    retryAfterMs: 60_000,
    remedy: bucket.limit === 0 ? closedRemedy(bucket) : fullRemedy,
    isForDatabase: true,
  };
}

const fullRemedy =
  "Look for the common cause when many fail at once, before you raise the limit. " +
  "Each is replaced when one before it is done.";

/** Nothing ends by waiting here. */
function closedRemedy({ name }: Bucket): string {
  return (
    `None is replaced while ${bucketField(name)} is 0: raise it, bring the processes back, or name them in ` +
    "processGroupsToRemove."
  );
}

function postponed(failures: readonly Failure[], problem: string): NewWait {
  return {
    step,
    reason: "ReplacementPostponed",
    message: `${idsOf(failures)} should be replaced (${failures[0]?.cause}), but ${problem}`,
    retryAfterMs: 5_000,
    remedy:
      "Nothing: replacements go on when that is over. If it lasts, look at the pods and nodes named.",
    isForDatabase: true,
  };
}
