// All end-to-end scenarios, in the order in which they begin: the longest first.
import { backUpAndRestore } from "./backups.ts";
import { takeOverDefinitions } from "./crd-takeover.ts";
import { liveThroughKills } from "./life.ts";
import type { Scenario } from "./scenario.ts";
import { actAsOne, operatorClusters } from "./several-operators.ts";
import { liveThroughTroubles } from "./troubles.ts";

export const scenarios: readonly Scenario[] = [
  {
    title: "[MU40] [MU41] [MU42] several operators on three API servers act as one",
    clusters: operatorClusters,
    run: actAsOne,
  },
  {
    title: "[DEP16] [DEP17] a cluster lives on while its operator is killed in every change",
    run: liveThroughKills,
  },
  {
    title: "[DEP25] a backup, a restore and a drill need every right they have, and no Secret",
    run: backUpAndRestore,
  },
  {
    title:
      "[RUN12] [RUN23] [RUN25] [RUN26] [RUN27] an operator lives through what goes wrong around it",
    run: liveThroughTroubles,
  },
  { title: "[DEP14] our CRDs take over from those of the Go operator", run: takeOverDefinitions },
];
