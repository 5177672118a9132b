// A knob rolled out to a database of two regions over three and over four Kubernetes clusters, in local and in global
// mode side by side: kills, recoveries by the database's generation, and virtual time until all are reconciled.
import { fourClusters, threeClusters } from "../test/world/multi-regions.ts";
import { rollOut } from "../test/world/multi-rollout.ts";
import type { RolloutResult } from "../test/world/multi-rollout.ts";
import type { Aim } from "./report.ts";
import { renderTable } from "./table.ts";
import type { Column } from "./table.ts";

export interface RolloutRun {
  local: RolloutResult;
  global: RolloutResult;
}

/** The default of a resource that says nothing. */
const minimumUptimeSeconds = 600;
/** At once, and within five seconds with a second recovery from late registrations. */
const spreads = [{ spreadMs: 0 }, { spreadMs: 4_700, seed: 2 }];

export async function runRollouts(progress: (text: string) => void): Promise<RolloutRun[]> {
  const runs: RolloutRun[] = [];
  for (const layout of [threeClusters, fourClusters]) {
    progress(`a knob for ${layout.names.length} Kubernetes clusters`);
    const rollouts = spreads.flatMap((spread) => [
      { ...spread, mode: "local" as const },
      { ...spread, mode: "global" as const },
    ]);
    const results = await rollOut(layout, minimumUptimeSeconds, rollouts);
    for (let index = 0; index + 1 < results.length; index += 2) {
      const [local, global] = results.slice(index, index + 2);
      if (local !== undefined && global !== undefined) runs.push({ local, global });
    }
  }
  return runs;
}

export function rolloutTable(runs: readonly RolloutRun[]): string {
  const side = (mode: "local" | "global"): Column<RolloutRun>[] => [
    { title: `${mode}: kills`, cell: (run) => String(run[mode].killers.length) },
    { title: "recoveries", cell: (run) => String(run[mode].recoveries) },
    { title: "reconciled s", cell: (run) => String(run[mode].seconds) },
  ];
  const columns: Column<RolloutRun>[] = [
    { title: "clusters", cell: ({ global }) => String(global.clusters) },
    {
      title: "processes back",
      cell: ({ global }) => `within ${Math.ceil(global.backMs / 1000)} s`,
    },
    ...side("local"),
    ...side("global"),
  ];
  const title = `A knob for all Kubernetes clusters of a database of two regions (virtual time, minimum uptime ${minimumUptimeSeconds} s)`;
  return renderTable(title, columns, runs);
}

export function rolloutAims(runs: readonly RolloutRun[]): Aim[] {
  return runs.flatMap(({ global }) => {
    const what = `a knob for ${global.clusters} clusters`;
    const recoveriesMax = global.spreadMs === 0 ? 1 : 2;
    return [
      aim(`${what}, kills`, global.killers.length, 1),
      aim(`${what}, recoveries`, global.recoveries, recoveriesMax),
      aim(`${what}, seconds`, global.seconds, minimumUptimeSeconds),
    ];
  });
}

function aim(what: string, value: number, limit: number): Aim {
  return { what, value, limit, isMet: value <= limit };
}
