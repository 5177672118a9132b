// How fast data moves in a copy. Large databases take days in the real world; in the copy a relocation takes minutes at
// most, and the time that the real one takes is computed from the bytes. Pure. Rule PV7.
import type { DatabaseStatus } from "../model/database-status.ts";
import type { Picture } from "./picture.ts";

/** As the simulated database has it by itself. */
const leastBytesPerSecond = 4_000_000;
const relocationSecondsMax = 60;

export function simulatedRate({ databaseStatus }: Picture): number {
  const { cluster } = (databaseStatus ?? {}) as DatabaseStatus;
  const stored = Object.values(cluster?.processes ?? {})
    .flatMap(({ roles = [] }) => roles)
    .map((role) => Number(role["stored_bytes"] ?? 0));
  const most = stored.reduce((largest, one) => (one > largest ? one : largest), 0);
  return Math.max(leastBytesPerSecond, Math.ceil(most / relocationSecondsMax));
}
