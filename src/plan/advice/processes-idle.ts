// Processes that the database has had no use for since its last recovery, which is when it gives roles away. As many as the mode
// may lose stand by on purpose, and so do those that the operator chose the number of. Rules: spec/advice.md [ADV7].
import { wantedCounts } from "../../api/wanted-counts.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { redundancyForCounts } from "../../model/redundancy.ts";
import { adviceOf, groupIdOf, isSettled, settledSeconds } from "./subject.ts";
import type { AdviceSubject, Judgement } from "./subject.ts";

/** Advice of their own, or a task that is no role. */
const otherClasses: ReadonlySet<string> = new Set(["log", "transaction", "coordinator"]);

export function processesIdle(subject: AdviceSubject): Judgement {
  const { own, others, secondsSinceRecovery, configuration } = subject;
  if (others.length > 0 || (configuration.regions?.length ?? 0) > 1) return "nothing";
  const isEarly = secondsSinceRecovery < settledSeconds;
  const classes = new Map<string, StatusProcess[]>();
  for (const process of own) {
    const { class_type: processClass = "" } = process;
    if (otherClasses.has(processClass)) continue;
    const sharing = classes.get(processClass);
    if (sharing === undefined) classes.set(processClass, [process]);
    else sharing.push(process);
  }
  const found = [...classes]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([processClass, processes]) => idleIn(subject, processClass, processes, isEarly));
  // It takes time until it is told, but what somebody has put right is not told any more.
  if (found.length === 0) return "nothing";
  if (isEarly) return "unknown";
  return adviceOf(
    "ProcessesIdle",
    {
      message: `Processes have had no role since the last recovery: ${found.map(({ text }) => text).join("; ")}`,
      remedy: found.map(({ remedy }) => remedy).join(" "),
      figure: found.reduce((sum, { count }) => sum + count, 0),
    },
    found.flatMap(({ ids }) => ids),
  );
}

interface Idle {
  readonly text: string;
  readonly remedy: string;
  readonly count: number;
  readonly ids: readonly string[];
}

function idleIn(
  { spec, configuration }: AdviceSubject,
  processClass: string,
  processes: readonly StatusProcess[],
  isEarly: boolean,
): Idle[] {
  const idle = processes.filter((process) => (isEarly || isSettled(process)) && !hasRole(process));
  if (idle.length === 0) return [];
  const ids = [...new Set(idle.map(groupIdOf))];
  const total = processes.length;
  if (processClass === "storage") {
    const text = `${idle.length} of ${total} storage processes hold no data`;
    const remedy = "Look at the logs of these storage processes and replace them.";
    return [{ text, remedy, count: idle.length, ids }];
  }
  const { faultTolerance } = redundancyForCounts(configuration.redundancy_mode);
  if (idle.length <= faultTolerance) return [];
  const counts = { ...spec.processCounts, [processClass]: 0 };
  const usual: Readonly<Record<string, number>> = wantedCounts({ ...spec, processCounts: counts });
  const count = Math.min(idle.length - faultTolerance, total - (usual[processClass] ?? 0));
  if (count < 1) return [];
  const text = `${idle.length} of ${total} ${processClass} processes, of which ${faultTolerance} may have to stand in for others`;
  const remedy = `Set spec.processCounts.${processClass} to ${total - count}.`;
  return [{ text, remedy, count, ids }];
}

function hasRole({ roles = [] }: StatusProcess): boolean {
  return roles.some(({ role }) => role !== "coordinator");
}
