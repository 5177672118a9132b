// Times that the API server wrote, such as when a pod was made or deleted, brought to our own clock by the measured
// difference of the two. Nothing compares such a time with ours without it. Rules: spec/operate.md [OP70].
import { parseTime } from "../../kube/time.ts";
import type { Snapshot } from "../snapshot.ts";

type ServerTime = Pick<Snapshot, "nowMs" | "serverAheadMs">;

/** Undefined when there is no time. */
export function ownTimeMs(
  { serverAheadMs = 0 }: Pick<Snapshot, "serverAheadMs">,
  time: string | null | undefined,
): number | undefined {
  const atMs = parseTime(time);
  return atMs === undefined ? undefined : atMs - serverAheadMs;
}

/** By how much a clock may be ahead of ours and still be believed. */
const aheadToleranceMs = 5_000;

/**
 * A time that the API server or a node wrote. One in our future is read as it stands: the clock of the API server may have
 * been set since. Undefined when it lies in our future even so, or there is none.
 */
export function plausibleTimeMs(
  { nowMs, serverAheadMs }: ServerTime,
  time: string | null | undefined,
): number | undefined {
  const latestMs = nowMs + aheadToleranceMs;
  const readings = [ownTimeMs({ serverAheadMs }, time), parseTime(time)];
  return readings.find((atMs) => atMs !== undefined && atMs <= latestMs);
}

/** From one time to another one of the same clock; undefined when one is missing. */
export function betweenMs(
  from: string | null | undefined,
  to: string | null | undefined,
): number | undefined {
  const [fromMs, toMs] = [parseTime(from), parseTime(to)];
  return fromMs === undefined || toMs === undefined ? undefined : toMs - fromMs;
}

/** When a pod was told of a new configuration, as an annotation holds it: by the clock that all operators share. */
export function toldAnnotation({ nowMs, serverAheadMs = 0 }: ServerTime): string {
  return String(Math.floor((nowMs + serverAheadMs) / 1000));
}

/** 0 when it was never told. */
export function toldMs(
  { nowMs, serverAheadMs = 0 }: ServerTime,
  annotation: string | undefined,
): number {
  const seconds = Number(annotation ?? 0);
  return Number.isFinite(seconds)
    ? Math.min(nowMs, Math.max(0, seconds * 1000 - serverAheadMs))
    : 0;
}

/** A time that an operator wrote: this one, or one before it whose clock may have been ahead. */
export function operatorTimeMs(
  { nowMs }: Pick<Snapshot, "nowMs">,
  time: string | null | undefined,
): number | undefined {
  const atMs = parseTime(time);
  return atMs === undefined ? undefined : Math.min(atMs, nowMs);
}

/** A time of a calendar, by which a run of a schedule is known: no clock has measured it. */
export function calendarTimeMs(time: string | undefined): number | undefined {
  return parseTime(time);
}

/** Whether one time that the API server wrote is after another one of it; false when one is missing. */
export function isLater(time: string | null | undefined, than: string | null | undefined): boolean {
  // What is made in one go has one time.
  if (time === than) return false;
  const [atMs, thanMs] = [parseTime(time), parseTime(than)];
  return atMs !== undefined && thanMs !== undefined && atMs > thanMs;
}

/** What the clock of the database says now; ours where it says nothing. */
export function databaseTimeMs({ database, nowMs }: Pick<Snapshot, "database" | "nowMs">): number {
  const status = database.kind === "seen" ? database.status : undefined;
  const seconds = status?.cluster?.cluster_controller_timestamp;
  return seconds === undefined ? nowMs : seconds * 1000;
}
