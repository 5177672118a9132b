// What the acts of the operator cost those who use a database, for the end of `simulate`: how often commits stopped and for
// how long, for each kind of act, with what the Go operator costs beside it. Rules: spec/world.md [W142].
import { mostOf } from "../env/long-lists.ts";
import { actKinds } from "../sim/workloads/stall-watch.ts";
import type { ActKind, Stalls } from "../sim/workloads/stall-watch.ts";

const titles: Readonly<Record<ActKind, string>> = {
  restart: "processes restarted",
  configuration: "configuration changed",
  coordinators: "coordinators changed",
  exclusion: "processes excluded",
  inclusion: "processes included",
  pods: "pods deleted",
  none: "no act before it",
};

/** Version 2.33.0 on real servers without load: recoveries, times 2.2 s for one of all processes and 0.8 to 2.7 s for one process. */
const goFigures: Readonly<Record<ActKind, string>> = {
  restart: "1 for each change of knobs, 2.2 s",
  configuration: "-",
  coordinators: "1 when a coordinator's pod is lost, 0.8 to 2.7 s",
  exclusion: "0 to 1 when storage shrinks, up to 2.7 s",
  inclusion: "-",
  pods: "0 for a storage pod",
  none: "-",
};

export function stallLines(stalls: Stalls): string[] {
  const rows = actKinds.map((kind) => {
    const { acts, recoveries, ms } = stalls[kind];
    const each = kind === "none" || acts === 0 ? "-" : (ms / acts / 1000).toFixed(2);
    const counts = [kind === "none" ? "-" : String(acts), String(recoveries)];
    return [titles[kind], ...counts, (ms / 1000).toFixed(1), each, goFigures[kind]];
  });
  const head = ["without commits, by act", "acts", "recoveries", "seconds", "each", "Go operator"];
  const table = [head, ...rows];
  const widths = head.map((_, column) => mostOf(table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column === head.length - 1
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}
