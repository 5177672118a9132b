// The best set of coordinators for a wish among the processes of a status: over zones and halls, and with logical fault
// domains over hosts too. Rules: spec/restart.md [T1], spec/packing.md [PACK50].
import { isPackingEnabled } from "../api/packing.ts";
import { choiceRules, chooseDistributed } from "../model/coordinator-choice.ts";
import type { Choice, CoordinatorWish } from "../model/coordinator-choice.ts";
import { chooseOverMachines } from "../model/coordinator-machines.ts";
import type { DatabaseConfiguration } from "../model/database-configuration.ts";
import { coordinatorCandidates } from "./coordinator-candidates.ts";
import type { CandidateInput, CoordinatorCandidate } from "./coordinator-candidates.ts";

interface Pick extends Choice<CoordinatorCandidate> {
  readonly candidates: readonly CoordinatorCandidate[];
  /** Hosts that have to be added; 0 when hosts are not what is missing. */
  readonly machinesMissing: number;
}

export function pickCoordinators(
  input: CandidateInput & { readonly configuration: DatabaseConfiguration },
  { count, hardLimits }: CoordinatorWish,
): Pick {
  const candidates = coordinatorCandidates(input);
  const rules = choiceRules(input.configuration, count, hardLimits);
  const choice = isPackingEnabled(input.spec)
    ? chooseOverMachines(candidates, rules)
    : { ...chooseDistributed(candidates, rules), machinesMissing: 0 };
  return { ...choice, candidates };
}
