// What goes wrong in a life beside its steps: each fault begins with a step, and most are over after a few. What a fault
// could break is told by the watchman, by the end of the life, or by the fault itself when it is over.
// Rules: spec/world.md [W113]-[W119].
import type { Trouble } from "../faults/chaos.ts";
import type { FaultName } from "./fault-names.ts";
import type { LifeScene } from "./life-scene.ts";
import {
  behind,
  clockBack,
  lostRights,
  oldNames,
  quota,
  shuffled,
  silent,
  suspended,
  webhook,
} from "./operator-side-faults.ts";
import { drained } from "./node-drains.ts";
import { expiredCertificate, renewedCertificate } from "./certificate-faults.ts";
import { powerCut } from "./power-cut.ts";
import {
  heldClaim,
  lostService,
  manyRemovals,
  maintenance,
  announced,
  asleep,
  urgent,
  fenced,
  otherFamily,
  paused,
  taint,
  tied,
} from "./people-faults.ts";

/** Undefined when there was nothing to do it to. */
export type LifeFault = (life: LifeScene) => Promise<BegunFault | undefined>;

export interface BegunFault {
  /** What was done, as a person reads it. */
  told: string;
  /** Takes it back; absent for what is over at once or passes by itself. Throws when something is broken. */
  end?: () => Promise<void>;
}

export const lifeFaults: Readonly<Record<FaultName, LifeFault>> = {
  "edited-labels": trouble("spoil labels"),
  "lost-config": trouble("delete ConfigMap"),
  "spoilt-config": trouble("spoil ConfigMap"),
  "lost-service": lostService,
  "wiped-status": trouble("wipe status"),
  "forgotten-string": trouble("forget connection string"),
  "held-pod": async (life) => (life.shape.isCalm ? undefined : trouble("hold pod")(life)),
  "held-claim": heldClaim,
  "many-removals": manyRemovals,
  asleep,
  announced,
  drained,
  fenced,
  urgent,
  paused,
  maintenance,
  taint,
  "lost-rights": lostRights,
  quota,
  webhook,
  "silent-server": silent("API server"),
  "silent-database": silent("database"),
  "silent-sidecars": silent("sidecars"),
  shuffled,
  suspended,
  "old-names": oldNames,
  behind,
  "clock-back": clockBack,
  "renewed-certificate": renewedCertificate,
  "expired-certificate": expiredCertificate,
  "power-cut": powerCut,
  "other-family": otherFamily,
  tied,
};

function trouble(name: Trouble): LifeFault {
  return async (life) => {
    life.watchman.noteDisturbance();
    const told = await life.chaos.make(name);
    return told === "none" ? undefined : { told };
  };
}
