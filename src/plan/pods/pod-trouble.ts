// What keeps a pod from running when its own status does not say it: a finalizer, a claim that is
// being deleted, parameters that fdbserver may refuse. Rules: spec/explain.md [E42]-[E45].
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { processSettingsOf } from "../../api/effective.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/generated/types.ts";
import type { Stored } from "../../kube/resource.ts";
import { conditionOf } from "../../model/process-group.ts";
import { ownTimeMs } from "../view/server-time.ts";
import type { Snapshot } from "../snapshot.ts";
import { nameList } from "../wait.ts";

/** Who holds back an object that is being deleted; empty when nobody does. */
export function holdersOf(object: Stored<Pod> | Stored<PersistentVolumeClaim>): string {
  const finalizers = object.metadata.finalizers ?? [];
  return finalizers.length === 0 ? "" : `held back by ${nameList(finalizers)}`;
}

/** What is known about a claim that keeps its pod from being scheduled. */
export function claimTrouble(
  claim: Stored<PersistentVolumeClaim> | undefined,
  scheduler: string,
): string | undefined {
  if (claim === undefined || !/persistentvolumeclaim/i.test(scheduler)) return undefined;
  if (claim.metadata.deletionTimestamp !== undefined) {
    const holders = holdersOf(claim);
    return `the claim ${claim.metadata.name} is being deleted${holders === "" ? "" : `, ${holders}`}`;
  }
  if (claim.status?.phase === "Bound") return undefined;
  const name = claim.spec?.storageClassName;
  const of =
    name === undefined || name === "" ? "it names no storage class" : `storage class ${name}`;
  return `${scheduler} (${of})`;
}

/** Processes that restart, or start for the first time, are back by then. */
const usualStartSeconds = 120;

/**
 * A running pod that stays without processes has often been given something that ends fdbserver at once. Where no status
 * came at all, nobody knows whether there are processes. A pod that has just been recreated has done nothing wrong yet,
 * however long its process group has been missing.
 */
export function suspectParameters(
  snapshot: Snapshot,
  group: ProcessGroup,
  pod: Stored<Pod>,
): string {
  const missingSince = conditionOf(group, "MissingProcesses")?.timestamp;
  if (missingSince === undefined) return "";
  const madeMs = ownTimeMs(snapshot, pod.metadata.creationTimestamp) ?? 0;
  const sinceMs = Math.max(missingSince * 1000, madeMs);
  if (snapshot.nowMs - sinceMs < usualStartSeconds * 1000) return "";
  const settings = processSettingsOf(snapshot.cluster.spec, group.processClass);
  const parameters = settings.customParameters ?? [];
  if (parameters.length === 0 || snapshot.database.kind === "missing") return "";
  return `fdbserver may refuse a custom parameter: ${nameList(parameters)}`;
}

/** What the scheduler says of the nodes, without what it adds about preemption: that names no cause. */
export function schedulerText(message: string): string {
  return message.replace(/\s*preemption: [^]*$/, "");
}
