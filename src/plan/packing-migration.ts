// Process groups that are in no logical fault domain, or in one that is not wanted or too full. They are bound for life,
// so they are replaced; at most one domain's worth of a class at a time, unless the resource sets a limit itself.
// Rules: spec/packing.md [PACK34]-[PACK41], [PACK45], [PACK46].
import { append, mostOf } from "../env/long-lists.ts";
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../api/cluster.ts";
import { hallSpreadOf } from "../api/hall-spread.ts";
import { domainCount, isPackingEnabled } from "../api/packing.ts";
import { surplusBins, targetSizes } from "../model/even-spread.ts";
import { processClasses } from "../model/process-class.ts";
import {
  hallOf,
  hasReported,
  isGoing,
  isMarkedForRemoval,
  isPacked,
} from "../model/process-group.ts";
import { areSuccessorsUp, zoneProblems } from "./exclusion-zones.ts";
import { emptyingHosts } from "./packing-hosts.ts";
import { domainCounts, domainsFor, membersOf, placeOf } from "./packing-placement.ts";
import { cheapestFirst } from "./removal-cost.ts";
import { databaseStatus } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Draft } from "./step.ts";

interface Migrant {
  readonly group: ProcessGroup;
  /** As a clause. */
  readonly cause: string;
  /** It never ran: no data has to move, so it waits for nobody. */
  readonly isFree?: boolean;
}

export interface Migration {
  readonly migrants: readonly Migrant[];
  /** Process groups that wait for others of their class, with the limit that holds them. */
  readonly held: readonly { readonly group: ProcessGroup; readonly limit: number }[];
}

/** It has the wrong zone for good, whatever else is wrong with it: a new pod in its place would not help. */
export function packingChangeOf(spec: ClusterSpec, group: ProcessGroup): string | undefined {
  if (!isPackingEnabled(spec)) {
    return isPacked(group) ? "logical fault domains are not wanted any more" : undefined;
  }
  if (!isJudgeable(spec, group)) return undefined;
  if (!isPacked(group)) return "it is in no logical fault domain";
  const isKnown = domainsFor(spec, group).has(group.distributionKey ?? "");
  return isKnown ? undefined : `logical fault domain ${group.distributionKey} is not wanted`;
}

/** Where domains belong to halls, a process group whose hall is not known yet is left alone. */
function isJudgeable(spec: ClusterSpec, group: ProcessGroup): boolean {
  return hallOf(group) !== "" || hallSpreadOf(spec) === undefined;
}

export function planMigration(snapshot: Snapshot, draft: Draft): Migration {
  const { spec } = draft.desired.cluster;
  if (!isPackingEnabled(spec) && !draft.groups.some(isPacked)) return { migrants: [], held: [] };
  const byClass = Map.groupBy(draft.groups, (group) => group.processClass);
  const migrants: Migrant[] = [];
  const held: { group: ProcessGroup; limit: number }[] = [];
  const kept = keptForZones(snapshot, draft);
  for (const processClass of processClasses) {
    const members = byClass.get(processClass) ?? [];
    const all = leavingMembers(snapshot, draft, members, processClass);
    const isFree = ({ group }: Migrant): boolean => hasNeverRun(snapshot, draft, group);
    append(
      migrants,
      all.filter(isFree).map((one) => ({ ...one, isFree: true })),
    );
    const found = all.filter((one) => !isFree(one));
    if (found.length === 0) continue;
    const limit = concurrencyLimit(draft, members, processClass);
    const moving = members.filter(
      (group) =>
        isGoing(group) && !kept.has(group.processGroupID) && !hasNeverRun(snapshot, draft, group),
    );
    const room = Math.max(0, limit - moving.length);
    append(migrants, found.slice(0, room));
    append(
      held,
      found.slice(room).map(({ group }) => ({ group, limit })),
    );
  }
  return { migrants, held };
}

/** It never reported, and its pod has never had a node. */
function hasNeverRun(snapshot: Snapshot, draft: Draft, group: ProcessGroup): boolean {
  if (hasReported(group)) return false;
  const pod = snapshot.pods.get(draft.desired.podName(group));
  return pod !== undefined && (pod.spec?.nodeName ?? "") === "";
}

/**
 * Those that cannot go before there are more zones, although all that stay are up: the zones come with those that are
 * replaced next, so nobody may wait for them.
 */
function keptForZones(snapshot: Snapshot, draft: Draft): ReadonlySet<string> {
  const status = databaseStatus(snapshot);
  const going = draft.groups.filter(isGoing).map((group) => group.processGroupID);
  if (status === undefined || going.length === 0) return new Set();
  if (!areSuccessorsUp(status, draft.groups)) return new Set();
  const mode = draft.desired.configuration.redundancy_mode;
  const problems = zoneProblems(status, new Set(going), mode);
  return new Set(problems.flatMap(({ needed }) => [...needed]));
}

/** One domain's worth of the class, or whatever the resource's own limit for such replacements allows. */
function concurrencyLimit(
  draft: Draft,
  members: readonly ProcessGroup[],
  processClass: string,
): number {
  const { spec } = draft.desired.cluster;
  if (spec.automationOptions?.maxConcurrentReplacements !== undefined) return Infinity;
  if (!isPackingEnabled(spec)) return mostOf(domainCounts(members).values(), 1);
  const places = new Set(members.map(placeOf)).size;
  return Math.max(1, Math.ceil(desiredOf(draft, processClass) / (domainCount(spec) * places)));
}

function desiredOf(draft: Draft, processClass: string): number {
  const counts: Readonly<Record<string, number | undefined>> = draft.desired.counts;
  return counts[processClass] ?? 0;
}

/** Those of a class that have to be replaced, in the order in which they go. */
function leavingMembers(
  snapshot: Snapshot,
  draft: Draft,
  members: readonly ProcessGroup[],
  processClass: string,
): readonly Migrant[] {
  const { spec } = draft.desired.cluster;
  const staying = members.filter((group) => !isMarkedForRemoval(group));
  if (!isPackingEnabled(spec)) {
    const surplus = Math.max(0, staying.length - desiredOf(draft, processClass));
    const packed = staying.filter(isPacked).toSorted(byDomain);
    return packed.slice(surplus).map((group) => migrantOf(spec, group));
  }
  const judged = staying.filter((group) => isJudgeable(spec, group));
  const byPlace = Map.groupBy(judged, placeOf);
  const sizes = new Map([...byPlace].map(([place, found]) => [place, found.length]));
  const shares = targetSizes(sizes, desiredOf(draft, processClass), [...sizes.keys()].sort());
  return [...byPlace].flatMap(([place, found]) => {
    const sorted = cheapestFirst(found, databaseStatus(snapshot));
    const going = members.filter((group) => isGoing(group) && placeOf(group) === place);
    const unpacked = emptyingHosts(
      sorted.filter((group) => !isPacked(group)),
      going,
      (group) => snapshot.pods.get(draft.desired.podName(group))?.spec?.nodeName ?? "",
    );
    return leavingPlace(spec, sorted, unpacked, shares.get(place) ?? 0);
  });
}

function migrantOf(spec: ClusterSpec, group: ProcessGroup, otherwise = ""): Migrant {
  return { group, cause: packingChangeOf(spec, group) ?? otherwise };
}

/** A domain after the other. */
function byDomain(left: ProcessGroup, right: ProcessGroup): number {
  const [a, b] = [left.distributionKey ?? "", right.distributionKey ?? ""];
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * `sorted` are the members of one class in one place, first those whose loss costs least; `unpacked` those of them that
 * are in no domain, in the order in which they go.
 */
function leavingPlace(
  spec: ClusterSpec,
  sorted: readonly ProcessGroup[],
  unpacked: readonly ProcessGroup[],
  share: number,
): readonly Migrant[] {
  const [first] = sorted;
  if (first === undefined) return [];
  const counts = domainCounts(sorted);
  const targets = targetSizes(counts, share, [...domainsFor(spec, first)]);
  // What a shrink takes anyway is not replaced: first those that are not packed.
  const surplus = Math.max(0, sorted.length - share);
  const overfull = surplusBins(counts, targets).slice(Math.max(0, surplus - unpacked.length));
  const victims = membersOf(sorted, overfull).map((group) => {
    const key = group.distributionKey ?? "";
    const [is, should] = [counts.get(key) ?? 0, targets.get(key) ?? 0];
    const tooFull = `logical fault domain ${key} has ${is} process groups of ${should}`;
    return migrantOf(spec, group, tooFull);
  });
  return [...unpacked.slice(surplus).map((group) => migrantOf(spec, group)), ...victims];
}
