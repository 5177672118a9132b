// How long a life counts as disturbed when faults overlap.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../env/random.ts";
import { VirtualClock } from "../../env/virtual-clock.ts";
import { expiredCertificate } from "./certificate-faults.ts";
import { Disturbances } from "./disturbances.ts";
import type { LifeFault } from "./life-faults.ts";
import type { LifeScene } from "./life-scene.ts";
import { minuteMs } from "./life-terms.ts";
import { oldNames } from "./operator-side-faults.ts";

function quietLife(): Pick<LifeScene, "clock" | "disturbances"> & { begin: Begin } {
  const [clock, disturbances] = [new VirtualClock(), new Disturbances()];
  const world = { client: { patch: async () => {} }, network: { nameLagMs: 0 } };
  const life = { clock, disturbances, world, random: seededRandom(1), endsBy: () => {} };
  const begin: Begin = async (fault) => {
    const begun = await fault(life as unknown as LifeScene);
    return async () => begun?.end?.();
  };
  return { clock, disturbances, begin };
}

type Begin = (fault: LifeFault) => Promise<() => Promise<void>>;

test("[W142] old names that end are not the end of certificates that expire, nor the other way round", async () => {
  const { clock, disturbances, begin } = quietLife();
  const endNames = await begin(oldNames);
  const endExpiry = await begin(expiredCertificate);
  await endNames();
  assert.ok(disturbances.areOngoing, "nobody has renewed them");
  const endOtherNames = await begin(oldNames);
  await endExpiry();
  await clock.advance(8 * minuteMs);
  assert.ok(disturbances.areOngoing, "names are still old");
  await endOtherNames();
  assert.ok(!disturbances.areOngoing);
});

test("[W142] certificates that expire again are not over when all have read those of the first renewal", async () => {
  const { clock, disturbances, begin } = quietLife();
  await (
    await begin(expiredCertificate)
  )();
  await clock.advance(7 * minuteMs);
  assert.ok(disturbances.areOngoing, "some show the expired one");
  const end = await begin(expiredCertificate);
  await clock.advance(2 * minuteMs);
  assert.ok(disturbances.areOngoing, "the first is over, the second is not");
  await end();
  await clock.advance(8 * minuteMs);
  assert.ok(!disturbances.areOngoing);
});
