// What the database says about the processes of one process group: are they there, excluded, overloaded, and
// do they run with the right command line? Rules: spec/plan.md [P26]-[P29], [P93].
import type { ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import type { Pod } from "../kube/generated/types.ts";
import type { Stored } from "../kube/resource.ts";
import type { StatusProcess } from "../model/database-status.ts";
import { processesOfServer } from "../model/locality.ts";
import { isTest } from "../model/process-class.ts";
import { isMarkedForRemoval, revokeExclusion, setCondition } from "../model/process-group.ts";
import type { EvaluationContext } from "./evaluate-group.ts";
import { substitutionsOf } from "./pod-configuration.ts";
import { shapeOfPod } from "./pod-shape.ts";
import { hostOf } from "./safety/view.ts";

interface Findings {
  isMissing: boolean;
  hasWrongCommandLine: boolean;
  isExcluded: boolean;
  hasIoError: boolean;
  isBusy: boolean;
}

/** Without any process in sight there is nothing to conclude: the conditions stay as they are. */
export function evaluateProcesses(
  context: EvaluationContext,
  group: ProcessGroup,
  pod: Stored<Pod>,
): ProcessGroup {
  if (context.processes.size === 0) return group;
  const { nowMs } = context.snapshot;
  const substitutions = substitutionsOf(context.snapshot, pod);
  const findings = findingsOf(context, group, pod, substitutions.values);
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
  pod: Stored<Pod>,
  substitutions: Readonly<Record<string, string>> | undefined,
): Findings {
  const findings: Findings = {
    isMissing: false,
    hasWrongCommandLine: false,
    isExcluded: isTest(group.processClass) && isMarkedForRemoval(group),
    hasIoError: false,
    isBusy: false,
  };
  const { servers, imageType, publicIps } = shapeOfPod(pod);
  const hosts = new Set(publicIps.map(hostOf));
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
function isOfPod({ address }: StatusProcess, hosts: ReadonlySet<string>): boolean {
  return address === undefined || hosts.size === 0 || hosts.has(hostOf(address));
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
