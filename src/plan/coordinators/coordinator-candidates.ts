// Who may be a coordinator, of a running database or of one that is about to be created, under which address, and the best
// set among them. Rules: spec/restart.md [T1]-[T6], spec/plan.md [P54].
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
    const [localities, isPassing] = [process.locality ?? {}, isTransient(input.spec, process)];
    found.push(candidateFor(input.spec, { id, address, processClass, localities, isPassing }));
  }
  return found;
}

/** Somebody of a class that may be a coordinator; one whose pod will be made again soon is taken last. */
export function candidateFor(
  { coordinatorSelection }: Pick<ClusterSpec, "coordinatorSelection">,
  one: Omit<CoordinatorCandidate, "priority"> & { processClass: string; isPassing?: boolean },
): CoordinatorCandidate {
  const { id, address, localities, processClass, isPassing = false } = one;
  const priority = classPriority(processClass, coordinatorSelection);
  return { id, address, localities, priority: isPassing ? loweredPriority(priority) : priority };
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

interface Chosen extends Choice<CoordinatorCandidate> {
  /** Hosts that have to be added; 0 when hosts are not what is missing. */
  readonly machinesMissing: number;
}

/** Over zones and halls, and with logical fault domains over hosts too. Rules: spec/packing.md [PACK50]. */
export function chooseAmong(
  spec: ClusterSpec,
  candidates: readonly CoordinatorCandidate[],
  rules: ReturnType<typeof choiceRules>,
): Chosen {
  return isPackingEnabled(spec)
    ? chooseOverMachines(candidates, rules)
    : { ...chooseDistributed(candidates, rules), machinesMissing: 0 };
}

interface Picked extends Chosen {
  readonly candidates: readonly CoordinatorCandidate[];
}

export function pickCoordinators(
  input: CandidateInput & { readonly configuration: DatabaseConfiguration },
  { count, hardLimits }: CoordinatorWish,
): Picked {
  const candidates = coordinatorCandidates(input);
  const rules = choiceRules(input.configuration, count, hardLimits);
  return { ...chooseAmong(input.spec, candidates, rules), candidates };
}
