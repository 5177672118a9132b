// What it means to remove process groups: the new lists of the spec, and what is at stake. Pure.
// Rules: spec/plugin.md [PL40]-[PL42].
import type { ClusterSpec, FoundationDBCluster } from "../api/cluster.ts";
import { isExcluded, isMarkedForRemoval } from "../model/process-group.ts";
import { isStateful } from "../model/process-class.ts";
import { redundancyOf } from "../model/redundancy.ts";

export interface Removal {
  readonly spec: ClusterSpec;
  /** What is asked for and not on its way yet, sorted. */
  readonly ids: readonly string[];
}

/**
 * The list holds what stood there before and what is asked for, without what is not there any more or on its way: the
 * operator never takes names out, and the list would grow for ever.
 */
export function removalOf(
  { spec, status }: FoundationDBCluster,
  asked: readonly string[],
  withExclusion: boolean,
): Removal {
  const field = withExclusion ? "processGroupsToRemove" : "processGroupsToRemoveWithoutExclusion";
  const groups = new Map((status?.processGroups ?? []).map((each) => [each.processGroupID, each]));
  const isOpen = (id: string): boolean => {
    const group = groups.get(id);
    if (group === undefined) return false;
    return !isMarkedForRemoval(group) || (!withExclusion && !isExcluded(group));
  };
  const listed: readonly string[] = spec[field] ?? [];
  const ids = [...new Set(asked)].filter((id) => isOpen(id)).toSorted();
  const list = [...new Set([...listed, ...ids])].filter((id) => isOpen(id)).toSorted();
  const isSame = list.length === listed.length && list.every((id) => listed.includes(id));
  return { ids, spec: isSame ? spec : { ...spec, [field]: list } };
}

/** What is lost, in sentences, when these go without their data being moved away first. */
export function lossText(
  { spec, status }: FoundationDBCluster,
  asked: readonly string[],
): readonly string[] {
  const ids = new Set(asked);
  const leaving = (status?.processGroups ?? []).filter(
    ({ processGroupID, processClass }) => ids.has(processGroupID) && isStateful(processClass),
  );
  if (leaving.length === 0) {
    return ["None of them holds data. Their processes end at once, which is a recovery."];
  }
  const domains = new Set(leaving.map((group) => group.faultDomain ?? group.processGroupID));
  const { mode, faultTolerance } = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  const counted = (count: number, what: string): string =>
    `${count} ${what}${count === 1 ? "" : "s"}`;
  const names = leaving.map(({ processGroupID }) => processGroupID).toSorted();
  return [
    `Their volumes are deleted without a copy of the data being made: ${names.join(", ")}.`,
    `They lie in ${counted(domains.size, "fault domain")}; ${mode} keeps the data when ${counted(faultTolerance, "fault domain")} at a time ${faultTolerance === 1 ? "is" : "are"} lost, those that are down already included.`,
    domains.size > faultTolerance
      ? "DATA WILL BE LOST FOR GOOD unless these process groups are empty."
      : "Data whose other copies are lost or not yet made is lost for good.",
  ];
}
