// What becomes of the certificates of a life: they are renewed, or nobody renews them in time. Processes read them again every
// few minutes in a life, so that it comes to rest in time. Rules: spec/world.md [W113], spec/certificates.md [CERT9].
import { randomPick } from "../../env/random.ts";
import { renewCertificates } from "../sample-certificates.ts";
import type { LifeFault } from "./life-faults.ts";
import { hourMs, minuteMs, namespace } from "./life-terms.ts";
import type { LifeScene } from "./life-scene.ts";

const rereadMs = 8 * minuteMs;
const dayMs = 24 * hourMs;

async function renew(life: LifeScene, lastsMs: number): Promise<void> {
  const notBeforeMs = life.clock.nowMs();
  const notAfterMs = notBeforeMs + lastsMs;
  await renewCertificates(life.world.client, namespace, { notBeforeMs, notAfterMs });
  // The operator sees it when it looks at the last process once more, which it does once an hour [CERT2].
  life.endsBy(notBeforeMs + rereadMs + hourMs);
}

/** Nothing is restarted for it, and nobody is cut off. */
export const renewedCertificate: LifeFault = async (life) => {
  const days = randomPick(life.random, [10, 90]);
  await renew(life, days * dayMs);
  return { told: `for ${days} days` };
};

/** It ends within minutes, and is renewed too late for whoever reads it before. */
export const expiredCertificate: LifeFault = async (life) => {
  const minutes = randomPick(life.random, [2, 10]);
  const endDisturbance = life.disturbances.begin();
  await renew(life, minutes * minuteMs);
  return {
    told: `after ${minutes} minutes`,
    async end() {
      await renew(life, 90 * dayMs);
      // The files reach the pods, and the processes read them.
      life.clock.setTimer(rereadMs, endDisturbance);
    },
  };
};
