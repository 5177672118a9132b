// Process groups that are in no logical fault domain, or in one that is not wanted or too full. They are bound for life,
// so they are replaced; at most one domain's worth of a class at a time, unless the resource sets a limit itself.
// Rules: spec/packing.md [PACK34]-[PACK41], [PACK45], [PACK46].
import { append, mostOf } from "../../env/long-lists.ts";
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { hallSpreadOf } from "../../api/hall-spread.ts";
import { domainCount, isPackingEnabled } from "../../api/packing.ts";
import { surplusBins, targetSizes } from "../../model/even-spread.ts";
import { processClasses } from "../../model/process-class.ts";
import {
  hallOf,
  hasCondition,
  isAwaitingExclusion,
  isMarkedForRemoval,
  isPacked,
} from "../../model/process-group.ts";
import { areSuccessorsUp, zoneProblems } from "../safety/exclusion-zones.ts";
import {
  domainCounts,
  domainsFor,
  isWantedDomain,
  membersOf,
  placeOf,
} from "./packing-placement.ts";
import { hasNeverRun } from "./waiting-for-host.ts";
import { cheapestFirst } from "../view/removal-cost.ts";
import { databaseStatus } from "../snapshot.ts";
import type { Misplaced } from "./hall-balance.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Draft } from "../step.ts";
import { viewOf } from "../view/cluster-view.ts";

export interface Migration {
  readonly migrants: readonly Misplaced[];
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
  const isKnown = isWantedDomain(spec, group, group.distributionKey ?? "");
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
  const migrants: Misplaced[] = [];
  const held: { group: ProcessGroup; limit: number }[] = [];
  const kept = keptForZones(snapshot, draft);
  for (const processClass of processClasses) {
    const members = byClass.get(processClass) ?? [];
    const all = leavingMembers(snapshot, draft, members, processClass);
    const isFree = ({ group }: Misplaced): boolean => hasNeverRun(snapshot, group);
    append(
      migrants,
      all.filter(isFree).map((one) => ({ ...one, isFree: true })),
    );
    const found = all.filter((one) => !isFree(one));
    if (found.length === 0) continue;
    const limit = concurrencyLimit(draft, members, processClass);
    const moving = members.filter(
      (group) =>
        isAwaitingExclusion(group) &&
        !kept.has(group.processGroupID) &&
        !hasNeverRun(snapshot, group),
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

/**
 * Those that cannot go before there are more zones, although all that stay of their kind are up: the zones come with those that
 * are replaced next, so nobody may wait for them.
 */
function keptForZones(snapshot: Snapshot, draft: Draft): ReadonlySet<string> {
  const status = databaseStatus(snapshot);
  const leaving = draft.groups.filter(isAwaitingExclusion).map((group) => group.processGroupID);
  if (status === undefined || leaving.length === 0) return new Set();
  const mode = draft.desired.configuration.redundancy_mode;
  const lasting = zoneProblems(status, new Set(leaving), mode).filter(({ concerns }) =>
    areSuccessorsUp(snapshot, status, draft.groups, concerns),
  );
  return new Set(lasting.flatMap(({ needed }) => [...needed]));
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
): readonly Misplaced[] {
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
    const sorted = cheapestFirst(snapshot, found, databaseStatus(snapshot));
    const leaving = members.filter(
      (group) => isAwaitingExclusion(group) && placeOf(group) === place,
    );
    const unpacked = emptyingHosts(
      sorted.filter((group) => !isPacked(group)),
      leaving,
      (group) => viewOf(snapshot).of(group).pod?.spec?.nodeName ?? "",
    );
    return leavingPlace(spec, sorted, unpacked, shares.get(place) ?? 0);
  });
}

function migrantOf(spec: ClusterSpec, group: ProcessGroup, otherwise = ""): Misplaced {
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
): readonly Misplaced[] {
  const [first] = sorted;
  if (first === undefined) return [];
  const counts = domainCounts(sorted);
  const targets = targetSizes(counts, share, domainsFor(spec, first));
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

// In which order process groups go that are in no logical fault domain: host by host, since only a host without them
// takes the pods of a domain. Rules: spec/packing.md [PACK46].
/**
 * First who does not report, then hosts that others are leaving already, then those with the fewest members; equal hosts,
 * and the members of a host, stay in the order given. A host without a name is that of pods without a node.
 */
export function emptyingHosts(
  sorted: readonly ProcessGroup[],
  leaving: readonly ProcessGroup[],
  hostOf: (group: ProcessGroup) => string,
): readonly ProcessGroup[] {
  const left = new Set(["", ...leaving.map(hostOf)]);
  const isSilent = (group: ProcessGroup): boolean => hasCondition(group, "MissingProcesses");
  const rankOf = (host: string): number => (left.has(host) ? 0 : 1);
  const reporting = sorted.filter((group) => !isSilent(group));
  const hosts = [...Map.groupBy(reporting, hostOf)].toSorted(
    ([a, some], [b, others]) => rankOf(a) - rankOf(b) || some.length - others.length,
  );
  return [...sorted.filter(isSilent), ...hosts.flatMap(([, members]) => members)];
}

// Whom a shrink takes where process groups are packed: first those that would have to be replaced anyway, then from the
// fullest logical fault domains, so that what stays is balanced. Rules: spec/packing.md [PACK42], [PACK43].
/**
 * `sorted` are the members of one class in one place, first those whose loss costs least. Undefined when none of them is
 * packed, and the spread over zones decides.
 */
export function shrinkOfDomains(
  spec: ClusterSpec,
  sorted: readonly ProcessGroup[],
  desired: number,
): readonly ProcessGroup[] | undefined {
  if (!sorted.some(isPacked)) return undefined;
  const surplus = Math.max(0, sorted.length - desired);
  const wrong = sorted.filter((group) => packingChangeOf(spec, group) !== undefined);
  const right = sorted.filter((group) => packingChangeOf(spec, group) === undefined);
  const leaving = wrong.slice(0, surplus);
  const left = surplus - leaving.length;
  return [
    ...leaving,
    ...(right.some(isPacked) ? balanced(spec, right, left) : right.slice(0, left)),
  ];
}

/** Among equally full domains, one whose members have trouble gives first. */
function balanced(
  spec: ClusterSpec,
  sorted: readonly ProcessGroup[],
  count: number,
): readonly ProcessGroup[] {
  const [first] = sorted;
  if (first === undefined || count <= 0) return [];
  const cheapest = [...new Set(sorted.map((group) => group.distributionKey ?? ""))];
  const empty = domainsFor(spec, first).filter((key) => !cheapest.includes(key));
  const counts = domainCounts(sorted);
  const order = [...empty, ...cheapest.toReversed()];
  const targets = targetSizes(counts, sorted.length - count, order);
  return membersOf(sorted, surplusBins(counts, targets).slice(0, count));
}
