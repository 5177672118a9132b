// The processes of a running database that may be coordinators, and the address under which each would be one.
// Rules: spec/restart.md [T1]-[T6].
import { routingOf } from "../../api/effective.ts";
import type { ClusterSpec } from "../../api/cluster.ts";
import { addressesInCommandLine, formatAddress, isTls } from "../../model/address.ts";
import {
  choiceRules,
  chooseDistributed,
  classPriority,
  isEligibleClass,
  loweredPriority,
} from "../../model/coordinator-choice.ts";
import type { Candidate, Choice, CoordinatorWish } from "../../model/coordinator-choice.ts";
import type { DatabaseStatus, StatusProcess } from "../../model/database-status.ts";
import { dnsNameOf, localityKeys, localityOf, processesOf } from "../../model/locality.ts";
import { formatVersion, parseVersion } from "../../model/version.ts";
import { unreachableAddresses } from "../view/unreachable-processes.ts";
import { isPackingEnabled } from "../../api/packing.ts";
import { chooseOverMachines } from "../../model/coordinator-machines.ts";
import type { DatabaseConfiguration } from "../../model/database-configuration.ts";

export interface CoordinatorCandidate extends Candidate {
  address: string;
}

export interface CandidateInput {
  spec: ClusterSpec;
  status: DatabaseStatus;
  /** Process groups on their way out: none of them may become a coordinator. */
  avoided: ReadonlySet<string>;
  /** Where names are wanted, processes that have none may serve by their address. */
  isAddressEnough?: boolean;
}

export function coordinatorCandidates(input: CandidateInput): CoordinatorCandidate[] {
  const unreachable = unreachableAddresses(input.status);
  const found: CoordinatorCandidate[] = [];
  for (const process of processesOf(input.status)) {
    const id = localityOf(process, localityKeys.instance);
    if (id === "" || input.avoided.has(id) || unreachable.has(process.address ?? "")) continue;
    if (process.excluded === true || process.under_maintenance === true) continue;
    const processClass = process.class_type ?? "";
    if (!isEligibleClass(processClass, input.spec.coordinatorSelection)) continue;
    const address = futureAddress(input, process);
    if (address === undefined) continue;
    const priority = classPriority(processClass, input.spec.coordinatorSelection);
    found.push({
      id,
      address,
      priority: isTransient(input.spec, process) ? loweredPriority(priority) : priority,
      localities: process.locality ?? {},
    });
  }
  return found;
}

/** What the connection string would say about the process; undefined when it cannot be reached in the wanted way. */
function futureAddress(
  { spec, isAddressEnough = false }: CandidateInput,
  process: StatusProcess,
): string | undefined {
  const addresses = addressesInCommandLine(process.command_line ?? "");
  if (!addresses.ok) return undefined;
  const usesTls = spec.mainContainer?.enableTls === true;
  const address = addresses.value.find((each) => isTls(each) === usesTls);
  if (address === undefined) return undefined;
  if (!routingOf(spec).useDnsInClusterFile) return formatAddress(address);
  const dnsName = dnsNameOf(process);
  if (dnsName !== "") return formatAddress({ ...address, host: dnsName });
  return isAddressEnough ? formatAddress(address) : undefined;
}

/** Its pod will be made anew soon: it has no name, runs another version, or a binary that was copied into the pod. */
function isTransient(spec: ClusterSpec, process: StatusProcess): boolean {
  if (routingOf(spec).useDnsInClusterFile && dnsNameOf(process) === "") return true;
  const version = parseVersion(process.version ?? "");
  const wanted = parseVersion(spec.version);
  const isOther =
    version !== undefined &&
    wanted !== undefined &&
    formatVersion(version) !== formatVersion(wanted);
  return isOther || (process.command_line ?? "").startsWith("/var/");
}

// The best set of coordinators for a wish among the processes of a status: over zones and halls, and with logical fault
// domains over hosts too. Rules: spec/restart.md [T1], spec/packing.md [PACK50].
interface Picked extends Choice<CoordinatorCandidate> {
  readonly candidates: readonly CoordinatorCandidate[];
  /** Hosts that have to be added; 0 when hosts are not what is missing. */
  readonly machinesMissing: number;
}

export function pickCoordinators(
  input: CandidateInput & { readonly configuration: DatabaseConfiguration },
  { count, hardLimits }: CoordinatorWish,
): Picked {
  const candidates = coordinatorCandidates(input);
  const rules = choiceRules(input.configuration, count, hardLimits);
  const choice = isPackingEnabled(input.spec)
    ? chooseOverMachines(candidates, rules)
    : { ...chooseDistributed(candidates, rules), machinesMissing: 0 };
  return { ...choice, candidates };
}
