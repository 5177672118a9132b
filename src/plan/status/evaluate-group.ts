// Looks at everything that belongs to one process group and says what is wrong with it, as conditions.
// Rules: spec/plan.md [P23]-[P34], spec/safety.md [S103].
import { isAdopting } from "../../api/adoption.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { annotationKeys } from "../../build/labels.ts";
import type { Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { processesOfServer, zoneOfProcessGroup } from "../../model/locality.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { isStateful, isTest } from "../../model/process-class.ts";
import {
  addCondition,
  hasCondition,
  hasReported,
  isMarkedForRemoval,
  isPacked,
  isReadyForRemoval,
  markForRemoval,
  removeCondition,
  revokeExclusion,
  setCondition,
  skipExclusion,
  timestampOf,
  withAddresses,
  withdrawSkip,
  withoutFuture,
} from "../../model/process-group.ts";
import type { Desired } from "../view/desired.ts";
import { withHall } from "../placement/observed-hall.ts";
import { withDiskLayout, withLayoutOfClaim } from "../view/disk-layout.ts";
import type { LayoutContext } from "../view/disk-layout.ts";
import { isOnlyNode } from "../view/metadata-check.ts";
import type { PodShape } from "../view/pod-shape.ts";
import { podConfigurationState, substitutionsOf } from "../view/pod-configuration.ts";
import type { UpgradeState } from "../view/running-version.ts";
import { hostOf } from "../../model/address.ts";
import { faultToleranceProblem } from "../safety/fault-tolerance.ts";
import { volumeProblem, withVolumeClaim } from "../safety/volumes.ts";
import { isSkipOutdated, skipReasonOf } from "../safety/skipped-exclusion.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Snapshot } from "../snapshot.ts";
import { withFence } from "../fencing/fenced-groups.ts";
import { withDraining } from "../drains/leaving-groups.ts";
import { withTaints } from "../replacement/taints.ts";
import { claimDifference } from "../volumes/size-change.ts";
import type { TaintOption } from "../replacement/taints.ts";
import { ownTimeMs } from "../view/server-time.ts";
import type { GroupView } from "../view/cluster-view.ts";
import { viewOf } from "../view/cluster-view.ts";

export interface EvaluationContext {
  snapshot: Snapshot;
  desired: Desired;
  /** By process id or instance id, of this resource's datacenter. */
  processes: ReadonlyMap<string, readonly StatusProcess[]>;
  isAvailable: boolean;
  maintenanceZone: string;
  upgrade: UpgradeState;
  /** Hosts that the connection string names. */
  coordinators: ReadonlySet<string>;
  toRemove: ReadonlySet<string>;
  toRemoveWithoutExclusion: ReadonlySet<string>;
  failedPodMs: number;
  taintOptions: readonly TaintOption[];
  layouts: LayoutContext;
}

export function evaluateGroup(context: EvaluationContext, entry: ProcessGroup): ProcessGroup {
  const { snapshot } = context;
  return withDraining(snapshot, withFence(snapshot, evaluatedGroup(context, entry)));
}

function evaluatedGroup(context: EvaluationContext, entry: ProcessGroup): ProcessGroup {
  const { snapshot } = context;
  const known = withoutFuture(entry, snapshot.nowMs);
  const group = withHall(snapshot, withFaultDomain(context, withRemoval(context, known)));
  const isFrozen =
    group.processClass === "storage" &&
    context.maintenanceZone !== "" &&
    group.faultDomain === context.maintenanceZone;
  const placed = withKnownLayout(context, group);
  if (isFrozen) return placed;
  const { pod, shape, node } = viewOf(snapshot).of(group);
  if (pod === undefined || shape === undefined) return withoutPod(context, placed);
  return withPod(context, placed, { pod, shape, node });
}

/** Of a database that was stopped on purpose nothing is missing, and no time counts. Where its data lies must not be forgotten. */
export function sleepingGroup(context: EvaluationContext, group: ProcessGroup): ProcessGroup {
  return { ...withKnownLayout(context, group), processGroupConditions: [] };
}

/** Until a database that comes back serves, pods may look for its data where it does not lie; afterwards they know best. */
function withKnownLayout(
  { snapshot, layouts, isAvailable }: EvaluationContext,
  group: ProcessGroup,
): ProcessGroup {
  const { cluster } = snapshot;
  const { shape, claim } = viewOf(snapshot).of(group);
  if (isAdopting(cluster) && !isAvailable) return withLayoutOfClaim(cluster.spec, group, claim);
  return withDiskLayout(layouts, group, shape, claim);
}

/** People mark process groups in the spec; a mark stays when the spec forgets it. */
function withRemoval(context: EvaluationContext, group: ProcessGroup): ProcessGroup {
  const id = group.processGroupID;
  const isForced = context.toRemoveWithoutExclusion.has(id);
  if (!isForced && !context.toRemove.has(id) && !isMarkedForRemoval(group)) return group;
  const { nowMs, cluster } = context.snapshot;
  const marked = markForRemoval(group, nowMs);
  const pod = viewOf(context.snapshot).of(group).pod;
  if (pod === undefined && mayHoldLastCopy(context.snapshot, group)) return withdrawSkip(marked);
  if (skipReasonOf(cluster.spec, group) !== undefined) return skipExclusion(marked, nowMs);
  const isAlive = pod !== undefined && pod.metadata.deletionTimestamp === undefined;
  const status = databaseStatus(context.snapshot);
  return isAlive && isSkipOutdated(context.snapshot, marked, status)
    ? withdrawSkip(marked)
    : marked;
}

/** The database misses copies, and somebody took the pod away from a volume that is to stay as long as that is so. */
function mayHoldLastCopy(snapshot: Snapshot, group: ProcessGroup): boolean {
  if (!isStateful(group.processClass) || !hasReported(group)) return false;
  const { claim } = viewOf(snapshot).of(group);
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return false;
  const status = databaseStatus(snapshot);
  const mode = status?.cluster?.configuration?.redundancy_mode;
  return status === undefined || faultToleranceProblem(status, mode) !== undefined;
}

/** A packed process group keeps the fault domain it was bound to; others have that of their processes. */
function withFaultDomain(context: EvaluationContext, group: ProcessGroup): ProcessGroup {
  const zone = zoneOfProcessGroup(context.processes, group.processGroupID);
  if (isPacked(group)) {
    const isFirst = zone !== undefined && !hasReported(group);
    return isFirst ? { ...group, firstReported: timestampOf(context.snapshot.nowMs) } : group;
  }
  return zone === undefined || zone === group.faultDomain ? group : { ...group, faultDomain: zone };
}

function withoutPod(context: EvaluationContext, group: ProcessGroup): ProcessGroup {
  const { nowMs } = context.snapshot;
  const missing = addCondition(
    group,
    isReadyForRemoval(group) ? "ResourcesTerminating" : "MissingPod",
    nowMs,
  );
  const cleared = removeCondition(removeCondition(missing, "IncorrectCommandLine"), "PodPending");
  return withClaimState(context, cleared);
}

interface LivePod extends Pick<GroupView, "node"> {
  readonly pod: Stored<Pod>;
  readonly shape: PodShape;
}

function withPod(context: EvaluationContext, group: ProcessGroup, live: LivePod): ProcessGroup {
  const { snapshot } = context;
  const { nowMs } = snapshot;
  const { pod, shape, node } = live;
  // The database knows what was on a lost volume by the address of then.
  const hasLostVolume = volumeProblem(snapshot, group)?.kind === "lost";
  const isPilingUp =
    isMarkedForRemoval(group) ||
    !context.isAvailable ||
    hasLostVolume ||
    wasCoordinator(context, group);
  let result = removeCondition(group, "MissingPod");
  result = withAddresses(result, shape.publicIps, isPilingUp);
  if (shape.isDeleting) {
    if (isReadyForRemoval(result)) return addCondition(result, "ResourcesTerminating", nowMs);
    const deletedMs = ownTimeMs(snapshot, pod.metadata.deletionTimestamp) ?? nowMs;
    if (deletedMs + context.failedPodMs < nowMs) return addCondition(result, "PodFailing", nowMs);
    result = removeCondition(result, "IncorrectCommandLine");
  }
  result = evaluateProcesses(context, result, live);
  result = withSpecification(context, result, live);
  result = withClaimState(context, result);
  result = withPhase(result, pod, nowMs);
  if (hasCondition(result, "PodPending")) return result;
  if (!hasCondition(result, "MissingProcesses")) result = withVolumeClaim(snapshot, result);
  return withTaints(result, node, context.taintOptions, snapshot);
}

/** Only by its old address can a coordinator be told that came back under another one. */
function wasCoordinator({ coordinators }: EvaluationContext, group: ProcessGroup): boolean {
  return (group.addresses ?? []).some((address) => coordinators.has(hostOf(address)));
}

function withSpecification(
  context: EvaluationContext,
  group: ProcessGroup,
  { pod, shape }: LivePod,
): ProcessGroup {
  const { desired, snapshot } = context;
  const { nowMs } = snapshot;
  const wanted = desired.pod(group);
  if (wanted === undefined) return group;
  const annotations = pod.metadata.annotations ?? {};
  const hasOldSpec = annotations[annotationKeys.lastAppliedSpec] !== wanted.specHash;
  const sidecarImage = desired.sidecarImage(group, pod);
  const hasOldImage = shape.sidecarImage !== undefined && shape.sidecarImage !== sidecarImage;
  const patch = desired.podMetadataPatch(group, pod);
  const hasOldMetadata = patch !== undefined && !isOnlyNode(patch);
  const configuration = podConfigurationState(snapshot, desired, group, pod);
  let result = setCondition(group, "IncorrectPodSpec", hasOldSpec, nowMs);
  result = setCondition(result, "IncorrectSidecarImage", hasOldImage, nowMs);
  result = setCondition(result, "IncorrectPodMetadata", hasOldMetadata, nowMs);
  if (configuration === "unknown") return result;
  return setCondition(result, "IncorrectConfigMap", configuration !== "current", nowMs);
}

/** A volume claim of another specification counts as missing, unless it only has to grow: the group needs a new one. */
function withClaimState(context: EvaluationContext, group: ProcessGroup): ProcessGroup {
  const { snapshot, desired } = context;
  if (!isStateful(group.processClass)) return group;
  const wanted = desired.pvc(group);
  if (wanted === undefined) return group;
  const pvc = snapshot.pvcs.get(wanted.object.metadata.name ?? "");
  const difference = pvc && claimDifference(snapshot, desired, pvc, wanted);
  const isMissing =
    difference === undefined || difference === "other" || difference === "cannotGrow";
  return setCondition(group, "MissingPVC", isMissing, snapshot.nowMs);
}

function withPhase(group: ProcessGroup, pod: Stored<Pod>, nowMs: number): ProcessGroup {
  if (pod.status?.phase === undefined || pod.status.phase === "Pending") {
    return addCondition(group, "PodPending", nowMs);
  }
  const statuses = pod.status.containerStatuses ?? [];
  const isFailing = pod.status.phase === "Failed" || statuses.some((status) => !status.ready);
  return setCondition(removeCondition(group, "PodPending"), "PodFailing", isFailing, nowMs);
}

// What the database says about the processes of one process group: are they there, excluded, overloaded, and
// do they run with the right command line? Rules: spec/plan.md [P26]-[P29], [P93].
interface Findings {
  isMissing: boolean;
  hasWrongCommandLine: boolean;
  isExcluded: boolean;
  hasIoError: boolean;
  isBusy: boolean;
}

/** Without any process in sight there is nothing to conclude: the conditions stay as they are. */
function evaluateProcesses(
  context: EvaluationContext,
  group: ProcessGroup,
  live: LivePod,
): ProcessGroup {
  if (context.processes.size === 0) return group;
  const { nowMs } = context.snapshot;
  const substitutions = substitutionsOf(context.snapshot, live.pod);
  const findings = findingsOf(context, group, live, substitutions.values);
  let result = setCondition(group, "MissingProcesses", findings.isMissing, nowMs);
  result = setCondition(result, "SidecarUnreachable", substitutions.isUnreachable, nowMs);
  result = setCondition(result, "IncorrectCommandLine", findings.hasWrongCommandLine, nowMs);
  if (findings.isMissing) return result;
  if (!findings.isExcluded && !result.exclusionSkipped) result = revokeExclusion(result);
  result = setCondition(result, "ProcessIsMarkedAsExcluded", findings.isExcluded, nowMs);
  result = setCondition(result, "ProcessHasIOError", findings.hasIoError, nowMs);
  return setCondition(result, "ProcessHasHighRunLoopBusy", findings.isBusy, nowMs);
}

function findingsOf(
  context: EvaluationContext,
  group: ProcessGroup,
  { pod, shape }: LivePod,
  substitutions: Readonly<Record<string, string>> | undefined,
): Findings {
  const findings: Findings = {
    isMissing: false,
    hasWrongCommandLine: false,
    isExcluded: isTest(group.processClass) && isMarkedForRemoval(group),
    hasIoError: false,
    isBusy: false,
  };
  const { servers, imageType, hosts } = shape;
  for (let number = 1; number <= servers; number += 1) {
    const reported = processesOfServer(context.processes, group.processGroupID, number);
    const processes = reported.filter((process) => isOfPod(process, hosts));
    if (processes.length === 0) findings.isMissing = true;
    for (const process of processes) {
      note(context, process, findings);
      if (substitutions === undefined) continue;
      if (!process.command_line || !process.version) {
        findings.isMissing = true;
        continue;
      }
      const expected = context.desired.commandLine(group, pod, number, substitutions);
      if (process.command_line !== expected || !isWantedVersion(context, process.version)) {
        findings.hasWrongCommandLine = true;
      }
    }
  }
  // The unified image takes no empty configuration, so there the switch says nothing about a process.
  const isEmptied = context.desired.cluster.spec.buggify?.emptyMonitorConf === true;
  if (isEmptied && imageType === "split") findings.hasWrongCommandLine = true;
  return findings;
}

/** The process of an earlier pod lingers in the status for some seconds: it says nothing about this one. */
function isOfPod({ address }: StatusProcess, hosts: readonly string[]): boolean {
  return address === undefined || hosts.length === 0 || hosts.includes(hostOf(address));
}

function note(context: EvaluationContext, process: StatusProcess, findings: Findings): void {
  if (process.excluded === true) findings.isExcluded = true;
  for (const message of process.messages ?? []) {
    if (message.name === "io_error" || message.name === "io_timeout") findings.hasIoError = true;
  }
  const threshold = context.snapshot.options.highRunLoopBusyThreshold;
  if (threshold !== undefined && (process.run_loop_busy ?? 0) >= threshold) findings.isBusy = true;
}

/** While versions of one protocol mix, a process on the older one is not wrong. */
function isWantedVersion(context: EvaluationContext, version: string): boolean {
  const wanted = context.desired.cluster.spec.version;
  if (version === wanted || version === `${wanted}-PRERELEASE`) return true;
  return context.upgrade.isUpgrading && context.upgrade.isCompatible;
}
