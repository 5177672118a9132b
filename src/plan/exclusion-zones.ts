// Whether enough fault domains would be left after an exclusion. FoundationDB accepts an exclusion that can never end,
// so the operator must not ask for one. Rules: spec/removal.md [R38], spec/halls.md [HALL20].
import type { DatabaseStatus } from "../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../model/locality.ts";
import { isLogProcess } from "../model/process-class.ts";
import { redundancyOf } from "../model/redundancy.ts";
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
}

/** None when data and logs can still be spread as the redundancy mode asks. */
export function zoneProblems(
  status: DatabaseStatus,
  leaving: ReadonlySet<string>,
  redundancyMode: string | undefined,
): readonly ZoneProblem[] {
  const problems: ZoneProblem[] = [];
  const mode = status.cluster?.configuration?.redundancy_mode ?? redundancyMode;
  const needed = redundancyOf(mode).minimumFaultDomains;
  for (const kind of kinds) {
    let isTouched = false;
    const zones = new Set<string>();
    for (const process of processesOf(status)) {
      if (!kind.holds(process.class_type ?? "")) continue;
      if (leaving.has(localityOf(process, localityKeys.instance))) isTouched = true;
      else if (process.excluded !== true) zones.add(localityOf(process, localityKeys.zone));
    }
    const hallText = isTouched ? hallProblem(status, leaving, mode, kind.name) : undefined;
    if (hallText !== undefined) {
      problems.push({ concerns: kind.holds, text: hallText });
    } else if (isTouched && zones.size < needed) {
      const left = zones.size === 1 ? "1 zone" : `${zones.size} zones`;
      const text = `${kind.name} processes would be left in ${left}, and ${mode} needs ${needed}`;
      problems.push({ concerns: kind.holds, text });
    }
  }
  return problems;
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
