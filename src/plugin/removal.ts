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

type Group = NonNullable<NonNullable<FoundationDBCluster["status"]>["processGroups"]>[number];

/** With one of these nobody can count on the copies that a process group holds. */
const downConditions: ReadonlySet<string | undefined> = new Set([
  ...["MissingProcesses", "MissingPod", "MissingPVC", "PodFailing", "PodPending"],
  "ProcessHasIOError",
]);

/**
 * What is lost, in sentences, when these go without their data being moved away first. Those that go in the same way since
 * earlier, and those that are down, have lost their copies, too: only together do they tell what is left.
 */
export function lossText(
  { spec, status }: FoundationDBCluster,
  asked: readonly string[],
): readonly string[] {
  const now = new Set(asked);
  const listed = new Set<string>(spec.processGroupsToRemoveWithoutExclusion ?? []);
  const keepers = (status?.processGroups ?? []).filter(({ processClass }) =>
    isStateful(processClass),
  );
  const leaving = keepers.filter(({ processGroupID }) => now.has(processGroupID));
  if (leaving.length === 0) {
    return ["None of them holds data. Their processes end at once, which is a recovery."];
  }
  const others = keepers.filter((group) => !leaving.includes(group) && !isEmptied(group));
  const earlier = others.filter(
    (group) => listed.has(group.processGroupID) || group.exclusionSkipped === true,
  );
  const down = others.filter(
    (group) =>
      !earlier.includes(group) &&
      (group.processGroupConditions ?? []).some(({ type }) => downConditions.has(type)),
  );
  const { mode, faultTolerance } = redundancyOf(spec.databaseConfiguration?.redundancy_mode);
  const domains = domainCount([...leaving, ...earlier, ...down]);
  const also = (groups: readonly Group[], why: string): string[] =>
    groups.length === 0 ? [] : [`Besides, ${namesOf(groups)}: ${why}.`];
  return [
    `Their volumes are deleted without a copy of the data being made: ${namesOf(leaving)}.`,
    ...also(earlier, "asked to go in the same way earlier"),
    ...also(down, "not well now"),
    `${earlier.length + down.length === 0 ? "They" : "Together they"} lie in ${counted(domains, "fault domain")}; ${mode} keeps the data when ${counted(faultTolerance, "fault domain")} at a time ${faultTolerance === 1 ? "is" : "are"} lost, those that are down already included.`,
    domains > faultTolerance
      ? "DATA WILL BE LOST FOR GOOD unless these process groups are empty."
      : "Data whose other copies are lost or not yet made is lost for good.",
  ];
}

/** The database has moved its data away. */
function isEmptied({ exclusionTimestamp, exclusionSkipped }: Group): boolean {
  return exclusionTimestamp !== undefined && exclusionSkipped !== true;
}

function domainCount(groups: readonly Group[]): number {
  return new Set(groups.map((group) => group.faultDomain ?? group.processGroupID)).size;
}

function namesOf(groups: readonly Group[]): string {
  return groups
    .map(({ processGroupID }) => processGroupID)
    .toSorted()
    .join(", ");
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
