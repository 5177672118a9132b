// All end-to-end scenarios, in the order in which they run.
import { takeOverDefinitions } from "./crd-takeover.ts";
import type { Scenario } from "./scenario.ts";

export const scenarios: readonly Scenario[] = [
  { title: "[DEP14] our CRDs take over from those of the Go operator", run: takeOverDefinitions },
];
