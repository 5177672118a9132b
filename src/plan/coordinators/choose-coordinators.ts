// Chooses the coordinators of a running database among the processes that its status shows: spread over zones,
// datacenters and halls, known by name or by address as the resource wants it. Rules: spec/restart.md [T1]-[T6],
// spec/halls.md [HALL35], [HALL38], [HALL42].
import { counted } from "../../model/counted.ts";
import {
  coordinatorsOf,
  formatConnectionString,
  parseConnectionString,
} from "../../model/connection-string.ts";
import { reducedCount, sharingWish, wishOver } from "../../model/coordinator-choice.ts";
import type { CoordinatorWish } from "../../model/coordinator-choice.ts";
import { isOverRegions } from "../../model/database-configuration.ts";
import { localityKeys } from "../../model/locality.ts";
import { machinesProblem } from "./coordinator-hosts.ts";
import { redundancyOf } from "../../model/redundancy.ts";
import {
  coordinatorProblem,
  isConversion,
  missingCoordinators,
  namesOfCoordinators,
  wishOf,
} from "./coordinator-validity.ts";
import type { CoordinatorInput } from "./coordinator-validity.ts";
import { pickCoordinators } from "./coordinator-candidates.ts";
import type { CoordinatorCandidate } from "./coordinator-candidates.ts";

export interface CoordinatorChoiceInput extends CoordinatorInput {
  /** Process groups on their way out: none of them may become a coordinator. */
  avoided: ReadonlySet<string>;
  isAddressEnough?: boolean;
  /** Fewer will do, where the mode allows it and the full number cannot be found. */
  isPressed?: boolean;
}

export type CoordinatorChoice =
  | {
      readonly ok: true;
      readonly addresses: readonly string[];
      readonly ids: readonly string[];
    }
  | {
      readonly ok: false;
      readonly problem: string;
      readonly shortage?: ZoneShortage;
      /** What helps, where it is not the usual. */
      readonly remedy?: string;
    };

/** More coordinators are wanted than there are zones with processes that may be one. */
export interface ZoneShortage {
  readonly wanted: number;
  readonly missing: number;
  readonly zones: ReadonlySet<string>;
}

export function chooseCoordinators(input: CoordinatorChoiceInput): CoordinatorChoice {
  const named = chooseAs(input, wishOf(input));
  // Pods get their names when they are made anew, which waits for a coordinator that is missing and for a switch of TLS.
  const isUrgent =
    missingCoordinators(input, input.status, input.connectionString).length > 0 ||
    isConversion(input);
  const choice =
    named.ok || !isUrgent ? named : chooseAs({ ...input, isAddressEnough: true }, wishOf(input));
  if (choice.ok) return choice;
  if (isOverRegions(input.configuration)) {
    const sharing = input.isPressed === true ? chooseAs(input, sharingWish(wishOf(input))) : choice;
    return sharing.ok ? sharing : choice;
  }
  const { spreadLocality } = redundancyOf(input.configuration.redundancy_mode);
  if (spreadLocality === undefined) return choice;
  // A database that begins with few is better off with five than with those.
  const isBeginning = coordinatorsOf(input.connectionString).length < reducedCount;
  if (!isBeginning && input.isPressed !== true) return choice;
  const reduced = chooseAs(input, wishOver(spreadLocality, reducedCount));
  return reduced.ok ? reduced : choice;
}

function chooseAs(input: CoordinatorChoiceInput, wish: CoordinatorWish): CoordinatorChoice {
  const { count } = wish;
  const picked = pickCoordinators(input, wish);
  const { candidates, chosen, missing, machinesMissing } = picked;
  if (machinesMissing > 0) return { ok: false, problem: machinesProblem(count, machinesMissing) };
  if (missing === 0) return judged(input, wish, chosen);
  const kept = inPlace(input, wish, candidates);
  if (kept?.ok === true) return kept;
  const zones = new Set(candidates.map((one) => one.localities[localityKeys.zone] ?? ""));
  const problem =
    `${count} coordinators are wanted and only ${chosen.length} can be found: ` +
    `${counted(candidates.length, "process", "processes")} in ${counted(zones.size, "zone")} may be one`;
  return { ok: false, problem, shortage: { wanted: count, missing, zones } };
}

/** The present ones: though they share zones, they may be as they should be but for how they are reached [HALL42]. */
function inPlace(
  input: CoordinatorChoiceInput,
  wish: CoordinatorWish,
  candidates: readonly CoordinatorCandidate[],
): CoordinatorChoice | undefined {
  if (missingCoordinators(input, input.status, input.connectionString).length > 0) return undefined;
  const names = namesOfCoordinators(input);
  const present = candidates.filter(({ address }) => names.has(address));
  return judged(input, wish, present);
}

/** A choice that would be found unfit right away would be changed again and again. */
function judged(
  input: CoordinatorChoiceInput,
  wish: CoordinatorWish,
  chosen: readonly CoordinatorCandidate[],
): CoordinatorChoice {
  const addresses = chosen.map((one) => one.address).sort();
  const connection = parseConnectionString(input.connectionString);
  if (!connection.ok) return { ok: false, problem: connection.error };
  const next = formatConnectionString({ ...connection.value, coordinators: addresses });
  const problem = coordinatorProblem({ ...input, wish, connectionString: next });
  const ids = chosen.map((one) => one.id);
  return problem === undefined ? { ok: true, addresses, ids } : { ok: false, problem };
}
