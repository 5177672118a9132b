// A database that answers late or not at all, whatever its real state: status and commands get a delay, or end with a
// time-out after they were carried out. Rules: spec/world.md [W61].
import { sleep } from "../../env/clock.ts";
import type { Clock } from "../../env/clock.ts";
import { randomInteger } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { AdminClient, AdminClientFactory } from "../../fdb/admin.ts";
import { namedFdbError } from "../../fdb/error.ts";
import { throughCalls } from "./admin-calls.ts";

export interface DatabaseConditions {
  /** Of an answer that comes late or not at all, in [0, 1]. */
  slowChance: number;
}

export interface SlowDatabase {
  admin: AdminClientFactory;
  conditions: DatabaseConditions;
}

export function slowDatabase(
  admin: AdminClientFactory,
  clock: Clock,
  random: Random,
): SlowDatabase {
  const conditions: DatabaseConditions = { slowChance: 0 };
  const late = async <T>(timeoutMs: number, answer: Promise<T>): Promise<T> => {
    const result = await answer;
    if (random.next() >= conditions.slowChance) return result;
    const delayMs = randomInteger(random, 0, 2 * timeoutMs);
    await sleep(clock, Math.min(delayMs, timeoutMs));
    if (delayMs >= timeoutMs) throw namedFdbError(1031);
    return result;
  };
  const slow = (client: AdminClient): AdminClient =>
    throughCalls(client, (call, timeoutMs) => late(timeoutMs, call()));
  return {
    conditions,
    admin: { ...admin, open: (options) => slow(admin.open(options)) },
  };
}
