// Faults around the operator itself: rights taken away, quota, a webhook, servers that never answer, answers in bunches, a
// process that stands still, old names, watches that are behind, a clock that is set back. Rules: spec/world.md
// [W114]-[W121], [W124].
import { randomInteger, randomPick } from "../../env/random.ts";
import type { SilentServer } from "../faults/silence.ts";
import type { LifeFault } from "./life-faults.ts";
import { hourMs, minuteMs } from "./life-terms.ts";

/** Several at once: what can be read but not changed, changed but not watched. */
export const lostRights: LifeFault = async ({ faults: { rights }, random }) => {
  const taken = Array.from({ length: randomInteger(random, 1, 3) }, () => rights.takeAway(random));
  return {
    told: taken.join(", "),
    end: async () => taken.forEach((right) => rights.giveBack(right)),
  };
};

export const quota: LifeFault = async ({ faults, random }) => {
  const kind = randomPick(random, ["pods", "persistentvolumeclaims"] as const);
  const count = faults.quota.limit(kind);
  return { told: `${count} ${kind}`, end: async () => faults.quota.lift() };
};

export const webhook: LifeFault = async ({ faults }) => {
  faults.webhook.isOn = true;
  return {
    told: "",
    end: async () => {
      faults.webhook.isOn = false;
    },
  };
};

export function silent(server: SilentServer): LifeFault {
  return async ({ faults: { silence } }) => {
    silence.begin(server);
    return { told: "", end: async () => silence.end(server) };
  };
}

export const shuffled: LifeFault = async ({ faults, random }) => {
  faults.shuffled.periodMs = randomPick(random, [50, 500, 2_000]);
  return {
    told: `every ${faults.shuffled.periodMs} ms`,
    end: async () => {
      faults.shuffled.periodMs = 0;
    },
  };
};

/** At moments that it cannot choose, between what it read and what it does. */
export const suspended: LifeFault = async ({ faults: { suspension }, random, clock }) => {
  const times = Array.from({ length: 3 }, () => ({
    inMs: randomInteger(random, 0, 2 * minuteMs),
    durationMs: randomPick(random, [5_000, 20_000, 90_000]),
  }));
  for (const { inMs, durationMs } of times) {
    clock.setTimer(inMs, () => suspension.suspend(durationMs));
  }
  return { told: times.map(({ inMs, durationMs }) => `${durationMs} ms in ${inMs}`).join(", ") };
};

/** Pods that come back under other addresses are looked for at the old ones. */
export const oldNames: LifeFault = async (life) => {
  const { network } = life.world;
  network.nameLagMs = randomPick(life.random, [5_000, 30_000, 120_000]);
  const endDisturbance = life.disturbances.begin();
  return {
    told: `for ${network.nameLagMs} ms`,
    end: async () => {
      network.nameLagMs = 0;
      endDisturbance();
    },
  };
};

const watchedKinds = [
  ...["pods", "persistentvolumeclaims", "configmaps", "services", "nodes"],
  "foundationdbclusters",
];

/** What the operator knows of one kind is older than what it knows of another. */
export const behind: LifeFault = async ({ links: { lag }, random }) => {
  const lags = Array.from({ length: randomInteger(random, 1, 3) }, () => ({
    kind: randomPick(random, watchedKinds),
    ms: randomPick(random, [5_000, 20_000, 60_000]),
  }));
  for (const { kind, ms } of lags) lag.moreMs.set(kind, ms);
  return {
    told: lags.map(({ kind, ms }) => `${kind} ${ms} ms`).join(", "),
    end: async () => lag.moreMs.clear(),
  };
};

/** The next process finds an earlier time than the one that it was told of by the last. */
export const clockBack: LifeFault = async ({ world, operatorClock, random }) => {
  const byMs = randomPick(random, [10_000, 10 * minuteMs, hourMs]);
  await world.stopOperator();
  operatorClock.setBack(byMs);
  world.startOperator();
  return { told: `by ${byMs / 1000} s` };
};
