// Which logical fault domain a new process group is bound to: the one of its class, and of its hall, that is furthest
// below its target; one domain after the other while some are in none. Process groups that are there already never move.
// Rules: spec/packing.md [PACK30]-[PACK33], [PACK47].
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { domainCount, isPackingEnabled } from "../../api/packing.ts";
import { binsForNew, binsOneByOne } from "../../model/even-spread.ts";
import type { BinCounts } from "../../model/even-spread.ts";
import { isLogicalDomain, logicalDomains } from "../../model/logical-domain.ts";
import type { DomainPlace } from "../../model/logical-domain.ts";
import { hallOf, isMarkedForRemoval, isPacked } from "../../model/process-group.ts";
import { isLogProcess, isStateful } from "../../model/process-class.ts";
import type { Draft } from "../step.ts";

/** Of a class, and of a hall where the operator spreads over halls: what shares logical fault domains. */
export function placeOf(group: ProcessGroup): string {
  return `${group.processClass}/${hallOf(group)}`;
}

/** The wanted logical fault domains in the place of a process group, in the order of their numbers. */
export function domainsFor(spec: ClusterSpec, group: ProcessGroup): readonly string[] {
  return logicalDomains(domainPlace(spec, group), domainCount(spec));
}

export function isWantedDomain(spec: ClusterSpec, group: ProcessGroup, name: string): boolean {
  return isLogicalDomain(domainPlace(spec, group), domainCount(spec), name);
}

function domainPlace(spec: ClusterSpec, group: ProcessGroup): DomainPlace {
  const prefix = spec.processGroupIDPrefix ?? "";
  return { prefix, processClass: group.processClass, hall: hallOf(group) };
}

/** Members by logical fault domain; those marked for removal and those that are not packed count nowhere. */
export function domainCounts(groups: readonly ProcessGroup[]): BinCounts {
  const counts = new Map<string, number>();
  for (const group of groups) {
    const key = group.distributionKey ?? "";
    if (key === "" || isMarkedForRemoval(group)) continue;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** One member for each naming of its logical fault domain; those that stand first are taken first. */
export function membersOf(
  sorted: readonly ProcessGroup[],
  domains: readonly string[],
): readonly ProcessGroup[] {
  const byKey = Map.groupBy(sorted, (group) => group.distributionKey ?? "");
  const taken = new Map<string, number>();
  return domains.flatMap((key) => {
    const index = taken.get(key) ?? 0;
    taken.set(key, index + 1);
    return byKey.get(key)?.[index] ?? [];
  });
}

/** Binds new process groups to logical fault domains, where the resource wants them. */
export function withDomains(
  spec: ClusterSpec,
  present: readonly ProcessGroup[],
  added: readonly ProcessGroup[],
): readonly ProcessGroup[] {
  if (!isPackingEnabled(spec) || added.length === 0) return added;
  const staying = present.filter((group) => !isMarkedForRemoval(group));
  const known = Map.groupBy(staying, placeOf);
  const bound = new Map<string, string>();
  for (const [place, members] of Map.groupBy(added, placeOf)) {
    const [first] = members;
    if (first === undefined) continue;
    const here = known.get(place) ?? [];
    // The share of a place is what it holds when the new ones are in it.
    const share = here.length + members.length;
    const domains = domainsFor(spec, first);
    // While some are in no domain, hosts become free one after the other, and one host takes one domain.
    const bins = here.every(isPacked) ? binsForNew : binsOneByOne;
    const chosen = bins(domainCounts(here), share, domains, members.length);
    for (const [index, { processGroupID }] of members.entries()) {
      bound.set(processGroupID, chosen[index] ?? "");
    }
  }
  return added.map((group) => packedInto(group, bound.get(group.processGroupID) ?? ""));
}

export function packedInto(group: ProcessGroup, distributionKey: string): ProcessGroup {
  return { ...group, distributionKey, faultDomain: distributionKey };
}

// A pod that no node takes because of logical fault domains: every node has a pod of its class that is in another domain,
// or in none while it is in one. Rules: spec/packing.md [PACK44].
/** What the pod would need, as a clause; undefined when its fault domain is not what keeps it from a node. */
export function missingNode(
  draft: Pick<Draft, "groups">,
  group: ProcessGroup,
  scheduler: string,
): string | undefined {
  if (!isStateful(group.processClass) || !/anti-?affinity/i.test(scheduler)) return undefined;
  const isAlike = ({ processClass }: ProcessGroup): boolean =>
    processClass === group.processClass ||
    (isLogProcess(processClass) && isLogProcess(group.processClass));
  const neighbours = draft.groups.filter(isAlike);
  if (!neighbours.some(isPacked)) return undefined;
  const kind = isLogProcess(group.processClass) ? "log" : group.processClass;
  const need = isPacked(group)
    ? `logical fault domain ${group.distributionKey} needs a node without a ${kind} pod of another domain`
    : `it is in no logical fault domain and needs a node without a ${kind} pod that is in one`;
  return `${need} (${scheduler})`;
}
