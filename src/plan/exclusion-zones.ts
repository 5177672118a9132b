// Whether enough fault domains would be left after an exclusion. FoundationDB accepts an exclusion that can never end,
// so the operator must not ask for one. Rules: spec/removal.md [R38].
import type { DatabaseStatus } from "../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../model/locality.ts";
import { isLogProcess } from "../model/process-class.ts";
import { redundancyOf } from "../model/redundancy.ts";

interface Kind {
  name: string;
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
    if (isTouched && zones.size < needed) {
      const left = zones.size === 1 ? "1 zone" : `${zones.size} zones`;
      const text = `${kind.name} processes would be left in ${left}, and ${mode} needs ${needed}`;
      problems.push({ concerns: kind.holds, text });
    }
  }
  return problems;
}
