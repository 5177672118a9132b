// Chooses the coordinators of a running database among the processes that its status shows: spread over zones,
// datacenters and halls, known by name or by address as the resource wants it. Rules: spec/restart.md [T1]-[T6].
import { isPackingEnabled } from "../api/packing.ts";
import {
  coordinatorsOf,
  formatConnectionString,
  parseConnectionString,
} from "../model/connection-string.ts";
import {
  choiceRules,
  chooseDistributed,
  reducedCount,
  wishOver,
} from "../model/coordinator-choice.ts";
import type { CoordinatorWish } from "../model/coordinator-choice.ts";
import { chooseOverMachines } from "../model/coordinator-machines.ts";
import { localityKeys } from "../model/locality.ts";
import { coordinatorCandidates } from "./coordinator-candidates.ts";
import { machinesProblem } from "./coordinator-hosts.ts";
import { redundancyOf } from "../model/redundancy.ts";
import { coordinatorProblem, wishOf } from "./coordinator-validity.ts";
import type { CoordinatorInput } from "./coordinator-validity.ts";

export interface CoordinatorChoiceInput extends CoordinatorInput {
  /** Process groups on their way out: none of them may become a coordinator. */
  avoided: ReadonlySet<string>;
}

export type CoordinatorChoice =
  | {
      readonly ok: true;
      readonly addresses: readonly string[];
      readonly ids: readonly string[];
      /** How many of them share one host at most. */
      readonly perMachine: number;
    }
  | { readonly ok: false; readonly problem: string };

export function chooseCoordinators(input: CoordinatorChoiceInput): CoordinatorChoice {
  const choice = chooseAs(input, wishOf(input));
  const { spreadLocality } = redundancyOf(input.configuration.redundancy_mode);
  const present = coordinatorsOf(input.connectionString).length;
  if (choice.ok || spreadLocality === undefined || present >= reducedCount) return choice;
  // A database that begins with few is better off with five than with those.
  const reduced = chooseAs(input, wishOver(spreadLocality, reducedCount));
  return reduced.ok ? reduced : choice;
}

function chooseAs(input: CoordinatorChoiceInput, wish: CoordinatorWish): CoordinatorChoice {
  const { configuration, connectionString } = input;
  const candidates = coordinatorCandidates(input);
  const { count, hardLimits } = wish;
  const rules = choiceRules(configuration, count, hardLimits);
  const { chosen, missing, machinesMissing, perMachine } = isPackingEnabled(input.spec)
    ? chooseOverMachines(candidates, rules)
    : { ...chooseDistributed(candidates, rules), machinesMissing: 0, perMachine: 1 };
  if (machinesMissing > 0) return { ok: false, problem: machinesProblem(count, machinesMissing) };
  if (missing > 0) {
    const zones = new Set(candidates.map((one) => one.localities[localityKeys.zone])).size;
    const problem =
      `${count} coordinators are wanted and only ${chosen.length} can be found: ` +
      `${candidates.length} processes in ${zones} zones may be one`;
    return { ok: false, problem };
  }
  const addresses = chosen.map((one) => one.address).sort();
  const connection = parseConnectionString(connectionString);
  if (!connection.ok) return { ok: false, problem: connection.error };
  // A choice that would be found unfit right away would be changed again and again.
  const next = formatConnectionString({ ...connection.value, coordinators: addresses });
  const problem = coordinatorProblem({ ...input, wish, connectionString: next });
  const ids = chosen.map((one) => one.id);
  return problem === undefined ? { ok: true, addresses, ids, perMachine } : { ok: false, problem };
}
