// Whether the database is calm enough for a change of its configuration.
// Rules: spec/plan.md [P70], spec/safety.md [S87].
import type { DatabaseStatus } from "../model/database-status.ts";
import { redundancyOf } from "../model/redundancy.ts";
import { generationsProblem, performanceProblem, recoveryProblem } from "./safety/common-checks.ts";
import type { Snapshot } from "./snapshot.ts";

/** The first reason against it, as a sentence without numbers that change by themselves; undefined when there is none. */
export function configurationDanger(
  snapshot: Snapshot,
  status: DatabaseStatus,
  runningVersion: string,
  nextMode: string | undefined,
): string | undefined {
  const { configurationMinimumUptimeSeconds: minimum } = snapshot.options;
  const danger =
    generationsProblem(status) ??
    dataProblem(status, nextMode) ??
    recoveryProblem(status, minimum, runningVersion) ??
    performanceProblem(status);
  return danger === undefined ? undefined : danger.charAt(0).toUpperCase() + danger.slice(1);
}

/** Without a hall or datacenter data is not healthy, and the fallback of the mode is the way to make it so. */
function dataProblem(status: DatabaseStatus, nextMode: string | undefined): string | undefined {
  const { data, configuration, messages = [] } = status.cluster ?? {};
  if (messages.some((message) => message.name === "unreadable_configuration")) {
    return "the database cannot read its own configuration";
  }
  const { fullMode } = redundancyOf(nextMode);
  const isFallback = fullMode !== undefined && fullMode === configuration?.redundancy_mode;
  if (isFallback || data?.state?.healthy === true) return undefined;
  return `the data is not healthy: ${data?.state?.name ?? "its state is unknown"}`;
}
