// What others do to a database behind the operator's back: people exclude, include, restart, choose other coordinators;
// an operator of another place takes the lock.
// Rules: spec/world.md [W67].
import type { Clock } from "../../env/clock.ts";
import { randomInteger, randomPick } from "../../env/random.ts";
import type { Random } from "../../env/random.ts";
import type { AdminClient } from "../../fdb/admin.ts";
import { isFdbError } from "../../fdb/error.ts";
import { operatorKeys } from "../../fdb/keys.ts";
import { LockWatch, takeLock } from "../../fdb/lock.ts";

export const foreignOwner = "elsewhere";

/** Takes the lock as an operator of another place would; until when it holds it, undefined when it does not get it. */
export async function takeForeignLock(
  admin: AdminClient,
  clock: Clock,
  durationMs: number,
): Promise<number | undefined> {
  const settings = { owner: foreignOwner, durationMs, watch: new LockWatch() };
  try {
    const result = await takeLock({ admin, keys: operatorKeys() }, settings, clock);
    return result.isHeld ? 1000 * result.endSeconds : undefined;
  } catch (error) {
    if (isFdbError(error)) return undefined;
    throw error;
  }
}

export const humanActs = ["exclude", "include", "kill", "coordinators"] as const;
export type HumanAct = (typeof humanActs)[number];

const timeoutMs = 10_000;

/** One act; what was done, as a person reads it. A database that does not answer is left alone. */
export async function actAsHuman(
  act: HumanAct,
  admin: AdminClient,
  random: Random,
): Promise<string> {
  try {
    return await performAct(act, admin, random);
  } catch (error) {
    if (isFdbError(error)) return `failed: ${error.message}`;
    throw error;
  }
}

async function performAct(act: HumanAct, admin: AdminClient, random: Random): Promise<string> {
  if (act === "include") {
    await admin.include(["all"], timeoutMs);
    return "all";
  }
  const status = await admin.status(timeoutMs);
  const addresses = Object.values(status.cluster?.processes ?? {})
    .flatMap((process) => (process.address === undefined ? [] : [process.address]))
    .sort();
  if (addresses.length === 0) return "nothing to see";
  if (act === "coordinators") {
    const [description = "", text = ""] = (await admin.connectionString(timeoutMs)).split("@");
    const known = text.split(",");
    const kept = known.filter((_, index) => index !== randomInteger(random, 0, known.length - 1));
    const fresh = addresses.filter((address) => !known.includes(address));
    if (kept.length !== known.length - 1 || fresh.length === 0) return `${description} kept`;
    const chosen = randomPick(random, fresh);
    await admin.changeCoordinators([...kept, chosen], timeoutMs);
    return chosen;
  }
  const address = randomPick(random, addresses).replace(/:tls$/, "");
  if (act === "exclude") await admin.exclude([address], { wait: false, timeoutMs });
  else await admin.kill([address], timeoutMs);
  return address;
}
