// Zones that hold more process groups of a class than others. Where processes were last seen counts, so that a pod that is made
// again changes nothing. Rules: spec/advice.md [ADV4].
import { leastOf, mostOf } from "../../env/long-lists.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import { adviceOf } from "./subject.ts";
import type { AdviceSubject, Judgement } from "./subject.ts";

/** One more or less is what a number gives that does not divide. */
const differenceMin = 2;
const classes = ["storage", "log"] as const;

export function zonesUneven({ configuration, groups }: AdviceSubject): Judgement {
  if (redundancyOf(configuration.redundancy_mode).faultTolerance === 0) return "nothing";
  const found = classes.flatMap((processClass) => {
    const zones = new Map<string, number>();
    const ofClass = groups.filter((group) => group.processClass === processClass);
    for (const { faultDomain = "" } of ofClass) {
      if (faultDomain !== "") zones.set(faultDomain, (zones.get(faultDomain) ?? 0) + 1);
    }
    const [most, least] = [mostOf(zones.values(), 0), leastOf(zones.values())];
    return most - least >= differenceMin ? [{ processClass, zones, most, least }] : [];
  });
  const [worst] = found.toSorted((one, other) => other.most - other.least - (one.most - one.least));
  if (worst === undefined) return "nothing";
  const { processClass, zones, most, least } = worst;
  const named = (count: number): string =>
    [...zones]
      .filter(([, found_]) => found_ === count)
      .map(([zone]) => zone)
      .sort()[0] ?? "";
  const full = named(most);
  return adviceOf(
    "ZonesUneven",
    {
      message:
        `Zones are uneven: of the ${processClass} process groups ${most} are in ${full} and ${least} in ${named(least)}. ` +
        "Copies of the same data lie in different zones, so not all of the larger one may be of use",
      remedy: `Spread the pods, for example by topologySpreadConstraints in the pod template, and replace process groups in ${full}.`,
      figure: most - least,
    },
    groups
      .filter((group) => group.processClass === processClass && group.faultDomain === full)
      .map(({ processGroupID }) => processGroupID),
  );
}
