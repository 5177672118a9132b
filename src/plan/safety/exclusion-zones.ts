// Whether enough fault domains would be left after an exclusion. FoundationDB accepts an exclusion that can never end,
// so the operator must not ask for one. Rules: spec/removal.md [R38], spec/halls.md [HALL20].
import type { Remembering } from "../../env/memory.ts";
import type { ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
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
import type { HallKind } from "./hall-policy.ts";

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
  const processes = processesOf(status);
  const mode = status.cluster?.configuration?.redundancy_mode ?? redundancyMode;
  const wanted = redundancyOf(mode).minimumFaultDomains;
  for (const kind of kinds) {
    const { zones, leavingByZone, ids } = zonesOf(processes, leaving, kind);
    if (ids.size === 0) continue;
    const hallText = hallProblem(status, leaving, mode, kind.name);
    if (hallText !== undefined) {
      problems.push({ concerns: kind.holds, text: hallText, needed: ids });
    } else if (zones.size < wanted) {
      const text =
        `${kind.name} processes would be left in ${zoneCount(zones.size)}, ` +
        `and ${mode} needs ${wanted}`;
      const others = [...leavingByZone].filter(([zone]) => !zones.has(zone)).sort(byName);
      const firsts = others.flatMap(([, members]) => members.toSorted().slice(0, 1));
      const isEnough = zones.size + firsts.length >= wanted;
      const needed = isEnough ? new Set(firsts.slice(0, wanted - zones.size)) : ids;
      problems.push({ concerns: kind.holds, text, needed });
    }
  }
  return problems;
}

/** The zones of those that stay, the ids of those that go, and by zone those of them that could still serve. */
function zonesOf(
  processes: readonly StatusProcess[],
  leaving: ReadonlySet<string>,
  kind: Kind,
): {
  zones: ReadonlySet<string>;
  leavingByZone: ReadonlyMap<string, readonly string[]>;
  ids: ReadonlySet<string>;
} {
  const zones = new Set<string>();
  const ids = new Set<string>();
  const leavingByZone = new Map<string, string[]>();
  for (const process of processes) {
    if (!kind.holds(process.class_type ?? "")) continue;
    const id = localityOf(process, localityKeys.instance);
    const zone = localityOf(process, localityKeys.zone);
    if (leaving.has(id)) ids.add(id);
    if (process.excluded === true) continue;
    if (leaving.has(id)) leavingByZone.set(zone, [...(leavingByZone.get(zone) ?? []), id]);
    else zones.add(zone);
  }
  return { zones, leavingByZone, ids };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
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
