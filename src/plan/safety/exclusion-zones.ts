// Whether enough fault domains would be left after an exclusion. FoundationDB accepts an exclusion that can never end,
// so the operator must not ask for one. Rules: spec/removal.md [R38], spec/halls.md [HALL20].
import type { Remembering } from "../../env/memory.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import {
  localityKeys,
  localityOf,
  processesByInstance,
  processesOf,
} from "../../model/locality.ts";
import { isLogProcess } from "../../model/process-class.ts";
import { isMarkedForRemoval } from "../../model/process-group.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { hallPolicy, zoneCount, zonesByHall } from "./hall-policy.ts";
import type { HallKind, HallPolicy } from "./hall-policy.ts";

interface Kind {
  name: HallKind;
  holds: (processClass: string) => boolean;
}

const kinds: readonly Kind[] = [
  { name: "storage", holds: (processClass) => processClass === "storage" },
  { name: "log", holds: isLogProcess },
];

export interface ZoneProblem {
  /** Whether a class belongs to those of which too few would be left. */
  readonly concerns: (processClass: string) => boolean;
  /** As a clause. */
  readonly text: string;
  /** Of those that are to go, whom the mode cannot do without: one in each of as many zones as are missing. */
  readonly needed: ReadonlySet<string>;
}

/**
 * Whether all that stay of the classes concerned are up, so that no more zones are to come by themselves. Others bring none, and
 * may wait for those that are to go.
 */
export function areSuccessorsUp(
  view: Remembering,
  status: DatabaseStatus,
  groups: readonly ProcessGroup[],
  concerns: ZoneProblem["concerns"],
): boolean {
  const reporting = processesByInstance(view, status);
  return groups.every(
    (group) =>
      isMarkedForRemoval(group) ||
      !concerns(group.processClass) ||
      reporting.has(group.processGroupID),
  );
}

/** None when data and logs can still be spread as the redundancy mode asks. */
export function zoneProblems(
  status: DatabaseStatus,
  leaving: ReadonlySet<string>,
  redundancyMode: string | undefined,
): readonly ZoneProblem[] {
  const problems: ZoneProblem[] = [];
  if (leaving.size === 0) return problems;
  const mode = status.cluster?.configuration?.redundancy_mode ?? redundancyMode;
  for (const kind of kinds) {
    const places = placesOf(status, leaving, mode, kind);
    const text = problemOf(status, places, mode, kind.name);
    if (text === undefined) continue;
    const kept = keptOf(status, places, mode, kind.name);
    const rest = new Set([...leaving].filter((id) => !kept.has(id)));
    const others = placesOf(status, rest, mode, kind);
    const isEnough = problemOf(status, others, mode, kind.name) === undefined;
    problems.push({ concerns: kind.holds, text, needed: isEnough ? kept : places.ids });
  }
  return problems;
}

/** One that is to go and could still serve. */
interface Leaver {
  readonly id: string;
  readonly zone: string;
  /** "" where the mode knows none. */
  readonly hall: string;
}

interface Places {
  /** Of those that stay. */
  readonly zones: ReadonlySet<string>;
  /** In the order of their zones and ids. */
  readonly leavers: readonly Leaver[];
  /** All that are to go, those as well that are excluded already. */
  readonly ids: ReadonlySet<string>;
}

function placesOf(
  status: DatabaseStatus,
  leaving: ReadonlySet<string>,
  mode: string | undefined,
  kind: Kind,
): Places {
  const policy = hallPolicy(mode, kind.name);
  const zones = new Set<string>();
  const ids = new Set<string>();
  const leavers: Leaver[] = [];
  for (const process of processesOf(status)) {
    if (!kind.holds(process.class_type ?? "")) continue;
    const id = localityOf(process, localityKeys.instance);
    const zone = localityOf(process, localityKeys.zone);
    const hall = policy === undefined ? "" : localityOf(process, policy.locality);
    if (leaving.has(id)) ids.add(id);
    if (process.excluded === true) continue;
    if (leaving.has(id)) leavers.push({ id, zone, hall });
    else zones.add(zone);
  }
  leavers.sort((a, b) => compareText(a.zone, b.zone) || compareText(a.id, b.id));
  return { zones, leavers, ids };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What would be missing, as a clause. */
function problemOf(
  status: DatabaseStatus,
  { zones, ids }: Places,
  mode: string | undefined,
  kind: HallKind,
): string | undefined {
  if (ids.size === 0) return undefined;
  const hallText = hallProblem(status, ids, mode, kind);
  const wanted = redundancyOf(mode).minimumFaultDomains;
  if (hallText !== undefined || zones.size >= wanted) return hallText;
  return `${kind} processes would be left in ${zoneCount(zones.size)}, and ${mode} needs ${wanted}`;
}

/** One in each zone that would be missing: first those that halls lack, and then any others. */
function keptOf(
  status: DatabaseStatus,
  { zones, leavers, ids }: Places,
  mode: string | undefined,
  kind: HallKind,
): ReadonlySet<string> {
  const policy = hallPolicy(mode, kind);
  const kept = policy === undefined ? [] : keptForHalls(status, leavers, ids, policy, kind);
  const served = new Set([...zones, ...kept.map(({ zone }) => zone)]);
  const missing = Math.max(0, redundancyOf(mode).minimumFaultDomains - served.size);
  const more = firstOfZones(leavers, served).slice(0, missing);
  return new Set([...kept, ...more].map(({ id }) => id));
}

/** The halls that lack fewest zones are filled first. One in which nobody would stay is being emptied: few do not carry it. */
function keptForHalls(
  status: DatabaseStatus,
  leavers: readonly Leaver[],
  leaving: ReadonlySet<string>,
  policy: HallPolicy,
  kind: HallKind,
): readonly Leaver[] {
  const left = zonesByHall(status, policy.locality, kind, (id) => leaving.has(id));
  const halls = [...left].flatMap(([hall, staying]) => {
    const lacking = Math.max(0, policy.zonesPerHall - staying.size);
    const inside = leavers.filter((leaver) => leaver.hall === hall);
    const firsts = firstOfZones(inside, staying).slice(0, lacking);
    return firsts.length < lacking ? [] : [firsts];
  });
  const sorted = halls.toSorted((a, b) => a.length - b.length);
  return sorted.slice(0, policy.halls).flat();
}

function firstOfZones(leavers: readonly Leaver[], without: ReadonlySet<string>): Leaver[] {
  const firsts = new Map<string, Leaver>();
  for (const leaver of leavers) {
    if (!without.has(leaver.zone) && !firsts.has(leaver.zone)) firsts.set(leaver.zone, leaver);
  }
  return [...firsts.values()];
}

/** Data that must lie in three halls cannot leave one of them: such an exclusion never ends, and nothing tells why. */
function hallProblem(
  status: DatabaseStatus,
  leaving: ReadonlySet<string>,
  mode: string | undefined,
  kind: HallKind,
): string | undefined {
  const policy = hallPolicy(mode, kind);
  if (policy === undefined) return undefined;
  const left = zonesByHall(status, policy.locality, kind, (id) => leaving.has(id));
  const full = [...left].filter(([, zones]) => zones.size >= policy.zonesPerHall);
  if (full.length >= policy.halls) return undefined;
  const names = full.map(([hall]) => hall).join(", ");
  const isFallback = redundancyOf(mode).fullMode !== undefined;
  const way = isFallback ? "" : `; to empty a hall, set redundancy_mode ${mode}_fallback first`;
  return (
    `${kind} processes would be left in ${full.length} halls (${names}) with at least ` +
    `${zoneCount(policy.zonesPerHall)}, and ${mode} needs ${policy.halls}${way}`
  );
}
