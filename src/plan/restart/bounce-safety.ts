// Whether the database can take a restart of processes now. Rules: spec/restart.md [T25]-[T27], spec/upgrade.md [U54], [U89].
import { leastOf } from "../../env/long-lists.ts";
import type { FoundationDBCluster, ProcessGroupStatus as ProcessGroup } from "../../api/cluster.ts";
import { automationOf } from "../../api/effective.ts";
import type { DatabaseStatus } from "../../model/database-status.ts";
import { localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { isStateful, isTest } from "../../model/process-class.ts";
import { hasRecoveryState, parseVersion } from "../../model/version.ts";
import { calmRemedy, hold, sentence, uptimeRemedy } from "../hold.ts";
import type { Hold } from "../hold.ts";
import { availabilityProblem, generationsProblem } from "../safety/common-checks.ts";

/**
 * How long everything has been running undisturbed: since the last recovery, and since the youngest process started,
 * whatever process groups do that are left out.
 */
export function uptimeSecondsOf(
  status: DatabaseStatus,
  runningVersion: string,
  left: ReadonlySet<string> = new Set(),
): number {
  const version = parseVersion(runningVersion);
  const recovered = status.cluster?.recovery_state?.seconds_since_last_recovered;
  const times: number[] = [];
  if (version !== undefined && hasRecoveryState(version) && recovered !== undefined) {
    times.push(recovered);
  }
  for (const process of processesOf(status)) {
    if (isTest(process.class_type ?? "") || process.excluded === true) continue;
    if (left.size > 0 && left.has(localityOf(process, localityKeys.instance))) continue;
    const { uptime_seconds: uptime } = process;
    if (uptime !== undefined && uptime > 0) times.push(uptime);
  }
  return times.length === 0 ? 0 : leastOf(times);
}

/**
 * What speaks against a restart, as a clause without numbers that change by themselves. Processes with data that ran
 * ahead in an incompatible upgrade keep the database from recovering fully, and only the restart ends that.
 */
export function bounceDanger(
  status: DatabaseStatus,
  ahead: readonly ProcessGroup[] = [],
): string | undefined {
  const problem = availabilityProblem(status) ?? generationsProblem(status);
  if (problem !== undefined) return problem;
  if (ahead.some(({ processClass }) => isStateful(processClass))) return undefined;
  const impact = status.cluster?.bounce_impact;
  if (impact?.can_clean_bounce !== false) return undefined;
  return `the database could not restart cleanly: ${impact.reason ?? "it gives no reason"}`;
}

/** What keeps a restart of everything from being allowed now, see bounceDanger: what is wrong with the database first, since no time heals that. */
export function restartObstacle(
  { spec }: Pick<FoundationDBCluster, "spec">,
  status: DatabaseStatus | undefined,
  runningVersion: string,
  ahead: readonly ProcessGroup[],
): Hold | undefined {
  if (status === undefined) return obstacle("The database does not answer", calmRemedy);
  const danger = bounceDanger(status, ahead);
  if (danger !== undefined) return obstacle(sentence(danger), calmRemedy);
  const { minimumUptimeSecondsForBounce: minimum } = automationOf(spec);
  if (uptimeSecondsOf(status, runningVersion) >= minimum) return undefined;
  const message = `Not everything has been running for ${minimum} seconds since the last recovery`;
  return obstacle(message, uptimeRemedy);
}

function obstacle(message: string, remedy: string): Hold {
  return hold("RestartHeld", message, remedy, 5_000);
}
