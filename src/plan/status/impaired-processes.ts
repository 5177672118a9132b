// Process groups whose pods run and which are not well all the same: excluded by somebody, with a disk that gives errors,
// overloaded, or on a node with a taint. They keep a cluster from being reconciled, so they are named, with what becomes of
// them. Rules: spec/plan.md [P104].
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import { hasCondition, isMarkedForRemoval } from "../../model/process-group.ts";
import type { ConditionType } from "../../model/process-group.ts";
import type { Draft } from "../step.ts";
import type { NewWait } from "../wait.ts";
import { nameList } from "../wait.ts";

interface Impairment {
  readonly condition: ConditionType;
  readonly text: (ids: string, isOne: boolean) => string;
  readonly remedy: string;
  /** What a replacement waits for; that of other failures when absent. */
  readonly isTaint?: true;
}

const impairments: readonly Impairment[] = [
  {
    condition: "ProcessIsMarkedAsExcluded",
    text: (ids, isOne) =>
      `${ids} ${isOne ? "is" : "are"} excluded from the database, and nobody asked for ${isOne ? "its" : "their"} removal`,
    remedy: "Include them again (fdbcli), or name them in processGroupsToRemove",
  },
  {
    condition: "ProcessHasIOError",
    text: (ids, isOne) => `The ${isOne ? "disk" : "disks"} of ${ids} gave errors`,
    remedy: "Look at the disk and at the log of its node",
  },
  {
    condition: "ProcessHasHighRunLoopBusy",
    text: (ids, isOne) => `${ids} ${isOne ? "is" : "are"} overloaded`,
    remedy: "Look at the load of the database and at the CPU that the pods have",
  },
  {
    condition: "NodeTaintDetected",
    text: (ids, isOne) =>
      `The ${isOne ? "node" : "nodes"} of ${ids} ${isOne ? "has" : "have"} a taint that calls for replacement`,
    remedy: "Nothing, if that is meant; otherwise take the taint away",
    isTaint: true,
  },
];

export function impairmentWaits(draft: Draft): NewWait[] {
  const { spec } = draft.desired.cluster;
  const staying = draft.groups.filter((group) => !isMarkedForRemoval(group));
  return impairments.flatMap((each) => {
    const found = staying.filter((group) => hasCondition(group, each.condition));
    return found.length === 0 ? [] : [waitFor(spec, each, found)];
  });
}

function waitFor(
  spec: ClusterSpec,
  { condition, text, remedy, isTaint }: Impairment,
  groups: readonly ProcessGroup[],
): NewWait {
  const ids = groups.map(({ processGroupID }) => processGroupID);
  const message = `${text(nameList(ids), ids.length === 1)}. ${prospect(spec, isTaint)}`;
  return {
    step: "updateStatus",
    reason: "ProcessImpaired",
    object: `condition/${condition}`,
    message,
    retryAfterMs: 60_000,
    remedy: `${remedy}.`,
    isForDatabase: true,
  };
}

function prospect(spec: ClusterSpec, isTaint: true | undefined): string {
  const { replacements } = automationOf(spec);
  if (!replacements.enabled) return "automationOptions.replacements is off, so this stays as it is";
  const seconds = isTaint
    ? replacements.taintReplacementTimeSeconds
    : replacements.failureDetectionTimeSeconds;
  return `What stays so for ${seconds} seconds is replaced`;
}
