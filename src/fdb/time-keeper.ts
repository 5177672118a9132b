// The record of times and versions that a database keeps by itself, read piece by piece. Carries the rule BK133 of
// spec/backup.md.
import type { TimedVersion } from "../model/backup-time-map.ts";
import type { AdminClient } from "./admin.ts";
import { decodeTimedVersion, timeBounds, timeKey } from "./backup-keys.ts";

/** The oldest pairs after a second and up to another one, at most so many. */
export function readTimesAfter(
  admin: Pick<AdminClient, "transact">,
  afterSeconds: number,
  limit: number,
  timeoutMs: number,
  toSeconds = Infinity,
): Promise<TimedVersion[]> {
  return admin.transact(
    async (transaction) => {
      const options = { limit, snapshot: true };
      const begin = timeKey(Math.max(0, afterSeconds + 1));
      const isBounded = Number.isFinite(toSeconds);
      const end = isBounded ? timeKey(Math.max(afterSeconds, toSeconds) + 1) : timeBounds.end;
      const entries = await transaction.getRange(begin, end, options);
      return entries.flatMap(({ key, value }) => decodeTimedVersion(key, value) ?? []);
    },
    { timeoutMs, readSystemKeys: true, lockAware: true },
  );
}
