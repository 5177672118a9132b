// Why a step cannot act in this pass, before it is told as a wait with the step's purpose. Rules: spec/restart.md [T7].
import { formatTime } from "../kube/time.ts";
import type { WaitReason } from "./reasons/registry.ts";
import type { NewWait } from "./wait.ts";

export interface Hold {
  readonly reason: WaitReason;
  readonly message: string;
  readonly remedy: string;
  readonly retryAfterMs: number;
}

export const calmRemedy =
  "Nothing, when it passes by itself; otherwise look at the status of the database.";

export const uptimeRemedy =
  "Nothing: it happens then. spec.minimumUptimeSecondsForBounce sets the time.";

export function hold(
  reason: WaitReason,
  message: string,
  remedy: string,
  retryAfterMs: number,
): Hold {
  return { reason, message, remedy, retryAfterMs };
}

export function isHold(found: object): found is Hold {
  return "reason" in found;
}

export function heldWait(step: string, held: Hold, what: string): NewWait {
  return { step, ...held, message: `${what}. ${held.message}`, isForDatabase: true };
}

const minuteMs = 60_000;

/** A restart that follows the last recovery too closely happens at a time that is known, told to the minute. */
export function uptimeHold(nowMs: number, minimumSeconds: number, remainingMs: number): Hold {
  const at = formatTime(Math.ceil((nowMs + remainingMs) / minuteMs) * minuteMs).slice(11, 16);
  const message = `It happens by ${at} UTC, when everything has been running for ${minimumSeconds} seconds since the last recovery`;
  return hold("RestartHeld", message, uptimeRemedy, Math.min(remainingMs, minuteMs));
}

/** Checks answer with clauses; a wait says them as sentences. */
export function sentence(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}
