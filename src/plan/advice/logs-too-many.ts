// Log process groups beyond what the database uses and its mode may lose: each is a disk and a pod for nothing. A database that
// other resources share, or of several regions, needs logs in more than one place. Rules: spec/advice.md [ADV6].
import { serversPerPod } from "../../api/effective.ts";
import { wantedCounts } from "../../api/wanted-counts.ts";
import { roleCountsOf } from "../../model/database-configuration.ts";
import { redundancyForCounts } from "../../model/redundancy.ts";
import { adviceOf } from "./subject.ts";
import type { AdviceSubject, Judgement } from "./subject.ts";

export function logsTooMany({ spec, configuration, groups, others }: AdviceSubject): Judgement {
  if (others.length > 0 || (configuration.regions?.length ?? 0) > 1) return "nothing";
  const count = groups.filter(({ processClass }) => processClass === "log").length;
  const { mode, faultTolerance } = redundancyForCounts(configuration.redundancy_mode);
  const used = roleCountsOf(configuration).logs;
  const needed = Math.ceil(used / serversPerPod(spec, "log")) + faultTolerance;
  if (count <= needed) return "nothing";
  const usual =
    wantedCounts({ ...spec, processCounts: { ...spec.processCounts, log: 0 } }).log ?? 0;
  const enough = Math.max(needed, usual);
  if (count <= enough) return "nothing";
  return adviceOf("LogsTooMany", {
    message: `There are ${count} log process groups. The database uses ${used} logs, so ${enough} are enough for mode ${mode}, which may lose ${faultTolerance}`,
    remedy: `Set spec.processCounts.log to ${enough}, or raise spec.databaseConfiguration.logs to make use of them.`,
    figure: count - enough,
  });
}
