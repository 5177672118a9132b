// Whether a status is evidence: it came after our own last act, it is not old, and it shows the whole of an available
// database. A process that is known to be dead hides nothing. Rules: spec/safety.md [S10]-[S19], [S141].
import { isAvailable } from "../../model/availability.ts";
import { Memory } from "../../env/memory.ts";
import type { DatabaseStatus, StatusMessage } from "../../model/database-status.ts";
import { processesOf } from "../../model/locality.ts";
import { unreadableText } from "../../model/status-shape.ts";
import { silenceOf } from "../view/unavailability.ts";
import type { DatabaseObservation } from "../snapshot.ts";
import { refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

export interface EvidenceLimits {
  /** The end of our own last act on the database; 0 when there was none. */
  lastWriteMs: number;
  nowMs: number;
  maximumAgeMs: number;
  /** Whether nobody can be behind this address any more. */
  isKnownDead?: (address: string) => boolean;
  /** Where the list of the processes of a status is kept. */
  memory?: Memory;
}

/** From here on commits flow. A database that lost a hall or a region stays in one of the first. */
const servingStates: ReadonlySet<string> = new Set([
  "accepting_commits",
  "all_logs_recruited",
  "storage_recovered",
  "fully_recovered",
]);

/** Why nothing may be concluded from the observation, as a clause; undefined when it is evidence. */
export function statusProblem(
  observation: DatabaseObservation,
  limits: EvidenceLimits,
): string | undefined {
  return evidenceRefusal(observation, limits)?.message;
}

export function evidenceRefusal(
  observation: DatabaseObservation,
  limits: EvidenceLimits,
): Refusal | undefined {
  const stale = freshnessRefusal(observation, limits);
  if (stale !== undefined || observation.kind === "missing") return stale;
  const gap = statusGap(observation.status, limits.isKnownDead, limits.memory);
  return gap === undefined ? undefined : refusal("StatusIncomplete", gap);
}

/** What was dropped from the status may be what the act would hit. */
export function unreadableRefusal(observation: DatabaseObservation): Refusal | undefined {
  const unreadable = observation.kind === "seen" ? unreadableText(observation.status) : undefined;
  return unreadable === undefined ? undefined : refusal("StatusIncomplete", unreadable);
}

/** Only the age of the observation is judged, not what it shows. */
export function freshnessRefusal(
  observation: DatabaseObservation,
  limits: EvidenceLimits,
): Refusal | undefined {
  if (observation.kind === "missing") {
    const { reason, clause } = silenceOf(observation);
    return refusal(reason, clause);
  }
  return staleRefusal(observation.observedMs, limits);
}

export function staleRefusal(observedMs: number, limits: EvidenceLimits): Refusal | undefined {
  if (observedMs <= limits.lastWriteMs) {
    return refusal("EvidenceStale", "the status is older than our own last act on the database");
  }
  if (limits.nowMs - observedMs > limits.maximumAgeMs) {
    const seconds = Math.round(limits.maximumAgeMs / 1000);
    return refusal("EvidenceStale", `the status is more than ${seconds} seconds old`);
  }
  return undefined;
}

/** What keeps a status from showing the whole of an available database; undefined when nothing does. */
export function statusGap(
  status: DatabaseStatus,
  isKnownDead: (address: string) => boolean = () => false,
  memory = new Memory(),
): string | undefined {
  const unreadable = unreadableText(status);
  if (unreadable !== undefined) return unreadable;
  const recovery = status.cluster?.recovery_state;
  if (!isAvailable(status)) {
    return `the database is not available${recovery === undefined ? "" : `: ${recovery.name}`}`;
  }
  if (recovery === undefined || !servingStates.has(recovery.name)) {
    return `the database is still recovering: ${recovery?.name ?? "it does not tell its state"}`;
  }
  const processes = memory.once(processesOf, status);
  if (processes.length === 0) return "the status lists no processes";
  if (processes.every((process) => (process.roles ?? []).length === 0)) {
    return "the status lists no roles";
  }
  const messages = [...(status.client?.messages ?? []), ...(status.cluster?.messages ?? [])];
  const hasNewcomers = processes.some((process) => process.locality === undefined);
  for (const message of messages) {
    const gap = messageGap(message, messages, isKnownDead, hasNewcomers);
    if (gap !== undefined) return gap;
  }
  return undefined;
}

const processReason = "Cannot retrieve all process status information.";

function messageGap(
  message: StatusMessage,
  all: readonly StatusMessage[],
  isKnownDead: (address: string) => boolean,
  hasNewcomers: boolean,
): string | undefined {
  const { name } = message;
  if (name === "unreachable_processes") {
    const hidden = unreachableAddresses(message).filter((address) => !isKnownDead(address));
    return hidden.length === 0 ? undefined : `a process cannot be reached: ${hidden.sort()[0]}`;
  }
  if (name === "status_incomplete" && !hasNewcomers) {
    const lost = all.find((each) => each.name === "unreachable_processes");
    const isExplained = lost !== undefined && reasonsOf(message).every((r) => r === processReason);
    if (isExplained) return undefined;
  }
  const isGap =
    name.startsWith("status_incomplete") ||
    name.startsWith("unreachable_") ||
    name === "unreadable_configuration" ||
    name === "quorum_not_reachable";
  return isGap ? `the status is incomplete (${name})` : undefined;
}

function unreachableAddresses(message: StatusMessage): string[] {
  const list = message["unreachable_processes"];
  if (!Array.isArray(list) || list.length === 0) return ["unknown"];
  return list.map((entry: unknown) => textField(entry, "address") ?? "unknown");
}

function reasonsOf(message: StatusMessage): string[] {
  const list = message["reasons"];
  if (!Array.isArray(list) || list.length === 0) return ["unknown"];
  return list.map((entry: unknown) => textField(entry, "description") ?? "unknown");
}

function textField(value: unknown, field: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found: unknown = Reflect.get(value, field);
  return typeof found === "string" ? found : undefined;
}

/** All old log generations have been given up: only then can a log process be missed for good. */
export function isFullyRecovered(status: DatabaseStatus): boolean {
  return status.cluster?.recovery_state?.name === "fully_recovered";
}
