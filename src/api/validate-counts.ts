// Numbers of process groups that are allowed and hardly ever meant. Carries rule API46.
import type { ClusterSpec } from "./cluster-spec.ts";
import { problem, type ValidationProblem } from "./problem.ts";

/** A negative number means none. One cluster of several can do without storage or logs, one alone cannot. */
export function countWarnings(spec: ClusterSpec): readonly ValidationProblem[] {
  const counts = Object.entries(spec.processCounts ?? {}) as [string, number | undefined][];
  return counts.flatMap(([processClass, count = 0]) => {
    const field = `spec.processCounts.${processClass}`;
    if (count >= 0) return [];
    if (isNeeded(processClass, spec) && isAlone(spec)) {
      const message = `a negative number means none, and a database needs ${processClass} processes`;
      return [problem(field, count, message, "give a number, or 0 to let the operator choose")];
    }
    if (count === -1) return [];
    const message = "a negative number means none, however large it is";
    return [problem(field, count, message, "write -1 for none")];
  });
}

function isNeeded(processClass: string, { processCounts }: ClusterSpec): boolean {
  if (processClass === "storage") return true;
  return processClass === "log" && (processCounts?.transaction ?? 0) <= 0;
}

/** Nothing says that other clusters run processes of the same database. */
function isAlone(spec: ClusterSpec): boolean {
  const others = [spec.seedConnectionString, spec.processGroupIDPrefix, spec.dataCenter];
  return others.every((text) => text === undefined || text === "");
}
