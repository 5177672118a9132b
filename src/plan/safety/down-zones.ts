// Which fault domains are down or not ready, and why, whoever took them down: pods, nodes, processes of this resource,
// what other instances lost, volumes that are about to go, and our own acts that no status shows yet.
// Rules: spec/safety.md [S30]-[S37], [S102], [S163], spec/fencing.md [FENCE4].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { isIsolated, isMarkedFenced } from "../../build/fence.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { isTest } from "../../model/process-class.ts";
import { hasCondition, hasReported, isExcluded, isPacked } from "../../model/process-group.ts";
import { processesByInstance } from "../../model/locality.ts";
import { isGoneUnnoticed } from "./unnoticed-loss.ts";
import { groupsOf, isNodeReady, isPodReady } from "./view.ts";
import type { SafetyView } from "./view.ts";
import { claimStateText, volumeProblem } from "./volumes.ts";
import { viewOf } from "../view/cluster-view.ts";

/** By fault domain, the reason as a clause. Groups that never reported are no loss: nothing rests on them. */
export function downZones(view: SafetyView): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const note = (zone: string, why: string): void => {
    if (!found.has(zone)) found.set(zone, why);
  };
  const status = view.database.kind === "seen" ? view.database.status : undefined;
  const processes = status && processesByInstance(view, status);
  for (const group of groupsOf(view)) {
    const why = groupProblem(view, group, processes);
    if (why !== undefined) note(group.faultDomain ?? group.processGroupID, why);
  }
  for (const [zone, why] of view.lostZones ?? []) note(zone, why);
  for (const { zones, type } of view.ledger) {
    for (const zone of zones) note(zone, `our own act is not over (${type})`);
  }
  const zone = status?.cluster?.maintenance_zone ?? "";
  if (zone !== "") note(zone, "it is under maintenance");
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Hosts that are gone or not ready with process groups that the database counts on. Only logical fault domains make them
 * differ from zones: there a host carries several, and a zone has several hosts.
 */
export function downHosts(view: SafetyView): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const group of groupsOf(view)) {
    if (!isPacked(group) || isTest(group.processClass) || isExcluded(group)) continue;
    const { pod, node } = viewOf(view).of(group);
    const host = pod?.spec?.nodeName ?? "";
    if (host === "" || view.nodes === undefined || !hasReported(group)) continue;
    if (node === undefined || !isNodeReady(node)) hosts.add(host);
  }
  return new Set([...hosts].sort());
}

/**
 * Why the group serves the database less than it should; undefined when it does, or when it does not matter. Without a
 * status only pods and nodes are judged.
 */
export function groupProblem(
  view: SafetyView,
  group: ProcessGroup,
  processes: ReadonlyMap<string, readonly StatusProcess[]> | undefined,
): string | undefined {
  if (isTest(group.processClass) || !hasReported(group)) return undefined;
  const isSkipped = group.exclusionSkipped === true && isGoneUnnoticed(view, group);
  if (isExcluded(group) && !isSkipped) return undefined;
  const id = group.processGroupID;
  const own = processes?.get(id) ?? [];
  const volume = volumeProblem(view, group);
  // That the process is empty says nothing about what was on the volume before.
  if (volume?.kind === "lost") return `the volume of ${id} is lost`;
  const isIdle = own.every(({ excluded, roles = [] }) => excluded === true && roles.length === 0);
  if (own.length > 0 && isIdle) return undefined;
  if (volume !== undefined) return `the volume claim of ${id} ${claimStateText(volume.state)}`;
  const { pod, node, shape } = viewOf(view).of(group);
  if (pod === undefined) return `the pod of ${id} is gone`;
  if (pod.metadata.deletionTimestamp !== undefined) return `the pod of ${id} is being deleted`;
  if (!isPodReady(pod)) return `the pod of ${id} is not ready`;
  if (node !== undefined && !isNodeReady(node)) return `the node of ${id} is not ready`;
  if (hasCondition(group, "Fenced")) return `${id} is fenced`;
  // Its monitor may follow at any time, also after the operator that told it is gone.
  if (isIsolated(pod) && isMarkedFenced(pod)) return `${id} was told to stop`;
  const isMissing = processes !== undefined && own.length < (shape?.servers ?? 1);
  return isMissing ? `${id} does not report` : undefined;
}
