// What advice looks at, read once from a snapshot. Rules: spec/advice.md.
import type { Advice } from "../../api/advice.ts";
import { adviceGroupsMaximum, adviceTextMaximum } from "../../api/advice.ts";
import type { ClusterSpec, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import type { DatabaseConfiguration } from "../../model/database-configuration.ts";
import type { StatusProcess } from "../../model/database-status.ts";
import { localityKeys, localityOf } from "../../model/locality.ts";

export interface AdviceSubject {
  readonly spec: ClusterSpec;
  /** What the database should run with. */
  readonly configuration: DatabaseConfiguration;
  /** Those that stay. */
  readonly groups: readonly ProcessGroup[];
  /** Processes of those, and of other resources, without testers and without any that are excluded. */
  readonly own: readonly StatusProcess[];
  readonly others: readonly StatusProcess[];
  readonly secondsSinceRecovery: number;
  /** What was told of the same topic before. */
  readonly before: Advice | undefined;
}

/** "unknown": nobody can tell now, and what was told before stands. */
export type Judgement = Advice | "nothing" | "unknown";
export type AdviceJudge = (subject: AdviceSubject) => Judgement;

/** What has not been so for an hour is no habit. */
export const settledSeconds = 3_600;

export function isSettled({ uptime_seconds: uptime = 0 }: StatusProcess): boolean {
  return uptime >= settledSeconds;
}

export function groupIdOf(process: StatusProcess): string {
  return localityOf(process, localityKeys.instance);
}

/** With all its limits; ids sorted, so that the same is told in the same words. */
export function adviceOf(
  topic: Advice["topic"],
  parts: Pick<Advice, "message" | "remedy" | "figure">,
  ids: Iterable<string> = [],
): Advice {
  const listed = [...new Set(ids)].sort().slice(0, adviceGroupsMaximum);
  return {
    topic,
    message: cut(parts.message),
    remedy: cut(parts.remedy),
    ...(parts.figure === undefined ? {} : { figure: parts.figure }),
    ...(listed.length === 0 ? {} : { processGroups: listed }),
  };
}

function cut(text: string): string {
  return text.length <= adviceTextMaximum ? text : `${text.slice(0, adviceTextMaximum - 1)}…`;
}
